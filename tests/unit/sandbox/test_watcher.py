"""What is told from inside a container."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.sandbox import watcher
from benchmark.sandbox.contract import Limits
from benchmark.sandbox.disk import Held, filesystem_held, statvfs_held
from benchmark.sandbox.docker_watching import SOURCE, _told, _whole_lines
from benchmark.sandbox.limits import LimitWatch

VERSION_2 = "0::/\n"
VERSION_1 = "9:name=systemd:/docker/1f\n8:pids:/docker/1f\n4:memory:/docker/1f\n0::/docker/1f\n"


@pytest.mark.parametrize(
    ("membership", "holds"),
    [
        (VERSION_2, "pids.events"),
        ("0::/system.slice/docker-1f.scope\n", "system.slice/docker-1f.scope/pids.events"),
        (VERSION_1, "pids/pids.events"),
        (VERSION_1, "pids/docker/1f/pids.events"),
    ],
)
def test_the_kernels_count_is_found_in_either_version_and_view(
    membership: str, holds: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "GROUPS", str(tmp_path))
    assert watcher.forks_refused(list(watcher.fork_counters(membership))) == 0
    (tmp_path / holds).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / holds).write_text("max 7\n")
    assert watcher.forks_refused(list(watcher.fork_counters(membership))) == 7


def test_it_tells_of_folders_and_ends_with_whoever_listens(tmp_path: Path) -> None:
    command = [sys.executable, "-I", "-S", "-c", SOURCE.read_text(), "0.05", str(tmp_path), "/no/such/place"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        forks, (here, nowhere) = _told(running.stdout.readline())
        assert forks >= 0
        assert here[0].bytes > 0.5 * filesystem_held(str(tmp_path))[0].bytes
        assert nowhere == (Held(), False)
        running.stdin.close()
        assert running.wait(60) == 0


def test_a_folder_is_full_without_a_free_block_or_file() -> None:
    assert statvfs_held(4096, 10, 4, 100, 90) == (Held(6 * 4096, 10), False)
    assert statvfs_held(4096, 10, 0, 100, 90) == (Held(10 * 4096, 10), True)
    assert statvfs_held(4096, 10, 4, 100, 0)[1]
    # Some file systems count no files.
    assert not statvfs_held(4096, 10, 4, 0, 0)[1]


def test_what_is_told_counts_as_hit_and_as_disk() -> None:
    watch = LimitWatch(Limits(disk_bytes=1 << 20), group=None, folders=())
    watch.note(*_told(json.dumps({"forks_refused": 0, "folders": [[4096, 10, 5, 0, 0]]}).encode()))
    assert watch.hits == set()
    watch.note(*_told(json.dumps({"forks_refused": 3, "folders": [[4096, 10, 0, 0, 0]]}).encode()))
    assert watch.hits == {"processes", "tmp"}
    assert watch.ended_as(1).exceeded is None
    watch.note(0, [(Held(2 << 20, 1), False)])
    assert watch.ended_as(1).exceeded == "disk"


def test_lines_are_put_together_and_rubbish_is_refused() -> None:
    assert list(_whole_lines([b"a\nb", b"c\n", b"d"])) == [b"a", b"bc"]
    for line in (b"OCI runtime exec failed", b"[]", b'{"forks_refused": null, "folders": []}', b'{"folders": [[1]]}'):
        with pytest.raises(ValueError, match=r"."):
            _told(line)


def test_its_text_fits_a_command_line() -> None:
    assert len(SOURCE.read_bytes()) < os.sysconf("SC_PAGE_SIZE") * 4
