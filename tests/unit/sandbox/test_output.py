"""What is kept of what a command prints."""

import os
import subprocess
from pathlib import Path

import pytest

from benchmark.sandbox.output import KeptLog, Output

NOTE = b"were printed. What follows is not kept.]\n"


def printed(path: Path | None, script: str, most: int) -> Output:
    output = Output(path, most)
    process = subprocess.Popen(["bash", "-c", script], stdout=output.fd, stderr=output.fd)
    output.handed_over()
    assert process.wait() == 0
    output.end()
    return output


def test_everything_below_the_most(tmp_path: Path) -> None:
    for word in ("one", "two"):
        assert not printed(tmp_path / "new" / "log", f"echo {word}; echo {word} >&2", 16).flooded
    assert (tmp_path / "new" / "log").read_text() == "one\none\ntwo\ntwo\n"


def test_a_flood_is_cut_off_and_whoever_prints_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    output = printed(log, "head -c 20000000 /dev/zero; echo end", 1_000_000)
    assert output.flooded
    kept = log.read_bytes()
    assert kept.startswith(bytes(1_000_000))
    assert kept.endswith(NOTE)
    assert len(kept) < 1_000_200
    assert printed(log, "echo more", 1_000_000).flooded
    assert len(log.read_bytes()) < 1_000_400


def test_no_log_at_all() -> None:
    assert not printed(None, "head -c 3000000 /dev/zero", 10_000_000).flooded


def test_a_full_disk_is_no_fault() -> None:
    log = KeptLog(Path("/dev/full"), 100)
    log.write(b"x" * 50)
    log.close()


def test_gives_its_descriptors_back(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    printed(tmp_path / "log", "true", 10)
    with pytest.raises(OSError, match="directory"):
        Output(tmp_path, 10)
    assert len(os.listdir("/proc/self/fd")) <= before
