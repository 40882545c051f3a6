"""Folders that were made to break whoever goes through them."""

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from benchmark.sandbox.disk import tree_bytes, tree_held
from benchmark.sandbox.trees import tree_remove, walk

NOBODY = 65534
NAME = "n" * 200
DEPTH = 2500
"""Deeper than Python recurses, and 500,000 bytes of path."""


def bury(root: Path, depth: int = DEPTH, name: str = NAME, size: int = 0) -> None:
    """Folders in each other, and a file of `size` bytes in the deepest: by steps, as a shell's `cd` goes."""
    with ExitStack() as held:
        here = os.open(root, os.O_RDONLY)
        held.callback(lambda: os.close(here))
        for _ in range(depth):
            os.mkdir(name, dir_fd=here)
            below = os.open(name, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        with open(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=here), "wb") as file:
            file.write(os.urandom(size))


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "tree"
    made.mkdir()
    yield made
    tree_remove(made)


def test_what_lies_too_deep_for_a_path_is_counted_and_removed(tree: Path) -> None:
    bury(tree, size=1_000_000)
    held = tree_held(tree)
    assert held.files == DEPTH + 2
    assert held.bytes >= 1_000_000
    assert sum(1 for _ in walk(tree)) == DEPTH + 1
    tree_remove(tree)
    assert not tree.exists()


def test_names_of_any_bytes_links_and_what_is_no_file(tree: Path) -> None:
    outside = tree.parent / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    for name in (b"\xff\xfe", b"new\nline", b"-rf", "ü".encode(), b"\xed\xa0\x80"):
        os.mkdir(os.path.join(os.fsencode(tree), name))
        (tree / os.fsdecode(name) / "link").symlink_to(outside)
    os.mkfifo(tree / "pipe")
    (tree / "loop").symlink_to(tree)
    (tree / "hard").hardlink_to(outside / "kept")
    assert tree_held(tree).files == 14
    tree_remove(tree)
    assert not tree.exists()
    assert (outside / "kept").read_text() == "kept"


def test_removing_a_file_a_link_and_nothing(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "file").touch()
    for name in ("link", "file", "nothing"):
        tree_remove(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_folders_that_move_while_we_look_lead_nowhere_else(tree: Path) -> None:
    """Moved up, the way back from inside them would lead out of the tree."""
    for number in range(40):
        (tree / "a" / "b" / "c" / str(number) / "d").mkdir(parents=True)
    (tree.parent / "secret").touch()
    over = threading.Event()

    def move() -> None:
        while not over.is_set():
            for number in range(40):
                with suppress(OSError):
                    (tree / "a" / "b" / "c" / str(number)).rename(tree / str(number))
            for number in range(40):
                with suppress(OSError):
                    (tree / str(number)).rename(tree / "a" / "b" / "c" / str(number))

    mover = threading.Thread(target=move)
    mover.start()
    try:
        seen = [entry.name for _ in range(60) for _, entry in walk(tree)]
    finally:
        over.set()
        mover.join()
    assert set(seen) <= {"a", "b", "c", "d", *map(str, range(40))}


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[Path]:
    """A folder of a user whom permissions hold, which they do not for root; the test runs as that user."""
    if os.getuid() != 0:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory() as place:
        os.chown(place, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield Path(place)
        finally:
            os.seteuid(0)


def test_folders_closed_to_their_owner_are_counted_and_removed(unprivileged: Path) -> None:
    root = unprivileged / "tree"
    below = root / "closed" / "below"
    for mode in (0, 0o400, 0o100, 0o200):
        below.mkdir(parents=True)
        (below / "file").write_bytes(os.urandom(500_000))
        for path in (below, below.parent, root):
            path.chmod(mode)
        assert tree_bytes(root) >= 500_000, oct(mode)
        for path in (below, below.parent, root):
            path.chmod(mode)
        tree_remove(root)
        assert not root.exists()
