"""Copying code that a hostile program may be writing, and telling what changed in it."""

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from benchmark.models import secret_hash, secret_new
from traces.models import CodeSnapshot
from traces.services.snapshots_diff import LINES_MOST, FileDiff, file_diff, snapshot_changes
from traces.services.snapshots_store import blob_get, blob_put, masked
from traces.services.snapshots_walk import LEFT_OUT_MOST, Caps, CodeWalk, stamp_of


@pytest.fixture(autouse=True)
def store(settings: Any, tmp_path: Path) -> None:
    settings.TRACES_DIR = tmp_path / "traces"


def walked(folder: Path, **caps: Any) -> tuple[dict[str, bytes], CodeWalk]:
    walk = CodeWalk(Caps(**caps))
    fd = os.open(folder, os.O_RDONLY)
    try:
        return {found.path: found.content or b"" for found in walk.files(fd)}, walk
    finally:
        os.close(fd)


def test_files_are_taken_and_links_and_specials_are_named(tmp_path: Path) -> None:
    code = tmp_path / "code"
    (code / "sub").mkdir(parents=True)
    (code / "a.py").write_text("a")
    (code / "sub" / "b.py").write_text("b")
    (code / "out").symlink_to("/etc/passwd")
    (code / "etc").symlink_to("/etc")
    (code / "self").symlink_to(code)
    os.mkfifo(code / "pipe")
    (code / "node_modules").mkdir()
    (code / "node_modules" / "x.js").write_text("x")
    files, walk = walked(code)
    assert files == {"a.py": b"a", "sub/b.py": b"b"}
    assert set(walk.left_out) == {"out", "etc", "self", "pipe", "node_modules/"}
    assert walk.left_out["out"] == "a link, not followed"


@pytest.mark.parametrize(
    ("caps", "kept", "says"),
    [
        ({"files": 3}, 3, "only the first 3 files"),
        ({"total_bytes": 3 << 20, "file_bytes": 1 << 20}, 3, "only the first 3 MiB"),
        ({"seconds": -1}, 0, "reading stopped"),
    ],
)
def test_caps_are_said(tmp_path: Path, caps: dict[str, Any], kept: int, says: str) -> None:
    for number in range(5):
        (tmp_path / f"{number}.py").write_bytes(b"x" * (1 << 20))
    files, walk = walked(tmp_path, **caps)
    assert len(files) == kept
    assert [note for note in walk.notes if says in note] == walk.notes


def test_a_known_file_is_not_read_again_and_a_changed_one_is(tmp_path: Path) -> None:
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(name)
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        known = {stamp_of((tmp_path / name).stat()) for name in ("a.py", "b.py")}
        status = (tmp_path / "b.py").stat()
        (tmp_path / "b.py").write_text("B.py")
        os.utime(tmp_path / "b.py", ns=(status.st_atime_ns, status.st_mtime_ns))
        assert {found.path: found.content for found in CodeWalk(known=known).files(fd)} == {
            "a.py": None,
            "b.py": b"B.py",
        }
    finally:
        os.close(fd)


def test_a_large_file_and_deep_folders_are_left_out_by_name(tmp_path: Path) -> None:
    (tmp_path / "big.jsonl").write_bytes(b"x" * 2000)
    deep = tmp_path.joinpath(*["d"] * 40)
    deep.mkdir(parents=True)
    (deep / "x.py").write_text("x")
    files, walk = walked(tmp_path, file_bytes=1000)
    assert files == {}
    assert walk.left_out["big.jsonl"] == "2000 bytes, the limit is 1000"
    assert "too deep" in walk.left_out.values()


def test_thousands_of_links_are_counted_not_listed(tmp_path: Path) -> None:
    for number in range(LEFT_OUT_MOST + 50):
        (tmp_path / f"l{number}").symlink_to("/")
    _, walk = walked(tmp_path)
    assert len(walk.left_out) == LEFT_OUT_MOST
    assert walk.notes == ["50 more were left out and are not listed"]


def test_equal_contents_are_stored_once_under_their_digest() -> None:
    digest = blob_put(b"print(1)\n")
    assert digest == blob_put(b"print(1)\n") == hashlib.sha256(b"print(1)\n").hexdigest()
    assert blob_get(digest) == b"print(1)\n"


def test_the_runs_token_is_found_by_its_hash_and_masked_wherever_it_stands() -> None:
    token = secret_new()
    content = f"TOKEN = {token!r}\nother = '{secret_new()}'\nx = 'ab{token}cd'\n".encode()
    kept, count = masked(content, secret_hash(token))
    assert token.encode() not in kept
    assert count == 2
    assert masked(b"nothing = 1\n", secret_hash(token)) == (b"nothing = 1\n", 0)


def snapshot(**files: bytes) -> CodeSnapshot:
    return CodeSnapshot(files={path: [blob_put(content), len(content), 0] for path, content in files.items()})


def differences(a: CodeSnapshot, b: CodeSnapshot) -> list[FileDiff]:
    return [file_diff(a, b, path, status) for path, status in snapshot_changes(a, b).items()]


def test_a_difference_names_added_removed_changed_and_binary_files() -> None:
    before = snapshot(same=b"1\n", gone=b"x\ny\n", edited=b"a\nb\nc\n", picture=b"\0\1")
    after = snapshot(same=b"1\n", fresh=b"z\n", edited=b"a\nB\nc\n", picture=b"\0\2")
    found = {diff.path: diff for diff in differences(before, after)}
    assert {path: diff.status for path, diff in found.items()} == {
        "edited": "changed",
        "fresh": "added",
        "gone": "removed",
        "picture": "changed",
    }
    assert list(found["edited"].numbered)[1:] == [("", 1, "a"), ("del", 2, "b"), ("add", 2, "B"), ("", 3, "c")]
    assert (found["gone"].added, found["gone"].removed) == (0, 2)
    assert found["picture"].why.startswith("binary")


def test_what_cannot_be_compared_says_why() -> None:
    long = snapshot(long=b"x\n" * (LINES_MOST + 1))
    (diff,) = differences(snapshot(), long)
    assert "too long" in diff.why
    missing = CodeSnapshot(files={"lost.py": ["0" * 64, 3, 0]})
    (diff,) = differences(snapshot(), missing)
    assert "not in this server's store" in diff.why


def test_lines_that_begin_with_plus_or_minus_are_counted_once() -> None:
    (diff,) = differences(snapshot(a=b"--- x\n"), snapshot(a=b"+++ y\n"))
    assert (diff.added, diff.removed) == (1, 1)
    assert [text for _, number, text in diff.numbered if number] == ["--- x", "+++ y"]
