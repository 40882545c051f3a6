"""What a host's worker.env says is what its readers take from it."""

import subprocess
from pathlib import Path

import pytest

from benchmark.join import written

HARD = {"AGENT2_SECRET_KEY": 'a $HOME&(b) #"c\\d`!*=', "AGENT2_PLACE": "gpu-1", "AGENT2_QUEUES": ""}


def test_a_shell_reads_every_value_as_it_is(tmp_path: Path) -> None:
    path = written(tmp_path, HARD)
    script = f"set -a; . {path}; set +a; exec env -0"
    told = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True, env={}).stdout
    assert HARD.items() <= dict(line.partition("=")[::2] for line in told.split("\0")).items()


@pytest.mark.parametrize("value", ["it's", "two\nlines", "two\rlines"])
def test_what_no_reader_would_take_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(SystemExit, match="AGENT2_SECRET_KEY holds"):
        written(tmp_path, {"AGENT2_SECRET_KEY": value})
    assert not (tmp_path / "worker.env").exists()
