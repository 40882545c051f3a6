"""Checkpoints that change while they are taken (entry 42), and hosts that are full (entry 43)."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grading.intake.codes import Refused
from grading.intake.limits import IntakeLimits
from grading.intake.listing import folder_list
from grading.intake.paths import Resolver
from grading.intake.snapshot import Stamp, files_copy, snapshot_commit, stamps_take, unchanged_check
from tests.support.waiting import until
from tests.unit.intake.conftest import WORKSPACE, Bench

NAME = "model.safetensors"
Between = Callable[[Callable[[Path], object], bool], str]


@contextmanager
def kept_busy(action: Callable[[], None]) -> Iterator[None]:
    """Another thread that does `action` again and again."""
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            action()
            stop.wait(0.001)

    thread = threading.Thread(target=busy)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_writer_that_never_rests(bench: Bench) -> None:
    file = bench.put() / NAME
    data = file.read_bytes()

    def rewrite() -> None:
        with file.open("r+b") as out:
            out.seek(len(data) - 64)
            out.write(os.urandom(64))

    def changed() -> bool:
        """On a busy machine the other thread may rest for one taking."""
        found = [each.message for each in bench.take().findings if each.code == "E_CHANGED"]
        return bool(found) and f"file {NAME}" in found[0]

    with kept_busy(rewrite):
        until(changed, "the change is noticed")


@pytest.fixture
def between(bench: Bench) -> Between:
    """What is found when `action` happens after the stamps were taken, before or after the copy."""

    def run(action: Callable[[Path], object], after_copy: bool) -> str:
        folder = bench.put()
        target = bench.store / "copy"
        target.mkdir(parents=True)
        resolver, limits = Resolver(bench.view, WORKSPACE), IntakeLimits()
        with resolver.submitted("ckpt") as trail:
            assert trail.place.fd is not None
            stamps = stamps_take(resolver, trail, folder_list(trail.place.fd, limits).graded)
            if not after_copy:
                action(folder)
            try:
                files_copy(resolver, trail, stamps, target)
                if after_copy:
                    action(folder)
                unchanged_check(resolver, trail, stamps, limits)
            except Refused as refusal:
                return f"{refusal.finding.code}: {refusal.finding.message}"
        return "unchanged"

    return run


def truncate_and_rewrite(folder: Path) -> None:
    data = (folder / NAME).read_bytes()
    (folder / NAME).write_bytes(data)


def rewrite_and_set_the_time_back(folder: Path) -> None:
    before = (folder / NAME).stat()
    truncate_and_rewrite(folder)
    os.utime(folder / NAME, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace_by_rename(folder: Path) -> None:
    shutil.copy2(folder / NAME, folder / "tmp")
    (folder / "tmp").replace(folder / NAME)


def replace_by_link(folder: Path) -> None:
    (folder / NAME).unlink()
    (folder / NAME).symlink_to("/etc/passwd")


def remove(folder: Path) -> None:
    (folder / NAME).unlink()


def append(folder: Path) -> None:
    with (folder / NAME).open("ab") as out:
        out.write(b"more")


def cut(folder: Path) -> None:
    os.truncate(folder / NAME, 100)


@pytest.mark.parametrize("after_copy", [False, True])
@pytest.mark.parametrize(
    "action",
    [
        truncate_and_rewrite,
        rewrite_and_set_the_time_back,
        replace_by_rename,
        replace_by_link,
        remove,
        append,
        cut,
    ],
)
def test_every_change_is_noticed_and_named(
    between: Between, action: Callable[[Path], object], after_copy: bool
) -> None:
    message = between(action, after_copy)
    assert message.startswith(f"E_CHANGED: file {NAME} ")
    assert "finish saving, then submit" in message


@pytest.mark.parametrize("after_copy", [False, True])
def test_a_new_shard_is_noticed(between: Between, after_copy: bool) -> None:
    name = "model-00002-of-00002.safetensors"
    message = between(lambda folder: (folder / name).write_bytes(b"x"), after_copy)
    assert message.startswith(f"E_CHANGED: file {name} appeared")


def test_files_that_are_not_graded_may_change(
    between: Between,
) -> None:
    assert between(lambda folder: (folder / "train.log").write_text("step 7"), True) == "unchanged"


def test_a_file_that_shrinks_under_the_copy(bench: Bench) -> None:
    """Its stamp says more bytes than there are: the copy ends instead of waiting for them."""
    bench.put()
    resolver = Resolver(bench.view, WORKSPACE)
    bench.store.mkdir()
    with resolver.submitted("ckpt") as trail:
        stamps = stamps_take(resolver, trail, [NAME])
        with pytest.MonkeyPatch.context() as patch:
            longer = Stamp(**{**stamps[NAME].__dict__, "size": stamps[NAME].size + 1})
            patch.setattr(Stamp, "of", classmethod(lambda cls, fd: longer))
            with pytest.raises(Refused, match="became shorter"):
                files_copy(resolver, trail, {NAME: longer}, bench.store)


def test_a_full_store_is_the_hosts_fault(bench: Bench) -> None:
    bench.put()
    report = bench.take(free_factor=1e15)
    assert [each.code for each in report.findings] == ["I_DISK"]
    assert report.faulted
    assert not report.refused


def test_a_store_that_cannot_be_written_is_the_hosts_fault(bench: Bench) -> None:
    bench.put()
    bench.store.write_text("a file where the store should be")
    from grading.intake import checkpoint_take

    report = checkpoint_take(
        view=bench.view, workspace=WORKSPACE, model_path="ckpt", base=bench.base, store=bench.store
    )
    assert [each.code for each in report.findings] == ["I_IO"]


def test_sparse_files_count_with_their_whole_size(bench: Bench) -> None:
    os.truncate(bench.put() / NAME, 1 << 40)
    assert bench.codes() == ["E_TOO_LARGE"]


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json", "model.safetensors.index.json"])
def test_huge_json_is_refused_unread(bench: Bench, file: str) -> None:
    folder = bench.put()
    (folder / file).touch()
    os.truncate(folder / file, 500 << 20)
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_TOO_LARGE"]
    assert report.findings[0].detail["file"] == file


def test_two_workers_take_the_same_checkpoint_at_once(bench: Bench) -> None:
    bench.put()
    bench.take()
    shutil.rmtree(bench.store)
    bench.store.mkdir()
    digests: list[str | None] = []
    from grading.intake import checkpoint_take

    def take() -> None:
        report = checkpoint_take(
            view=bench.view, workspace=WORKSPACE, model_path="ckpt", base=bench.base, store=bench.store
        )
        digests.append(report.digest if report.accepted else None)

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(digests) == 4
    assert None not in digests
    assert [each.name for each in bench.store.iterdir()] == [digests[0]]


def test_an_identical_snapshot_counts_as_touched(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / NAME).write_bytes(b"same")
    final = snapshot_commit(tmp_path / "a", tmp_path, "digest")
    os.utime(final, (0, 0))
    assert snapshot_commit(tmp_path / "b", tmp_path, "digest") == final
    assert final.stat().st_mtime > 0
