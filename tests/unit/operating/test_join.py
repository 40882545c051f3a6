"""What a host's worker.env says is what its readers take from it."""

import os
import subprocess
from pathlib import Path

import pytest

from benchmark import join
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


def test_the_folder_joined_with_is_the_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image has a folder of its own in its environment; what else is set there counts."""
    begun: list[dict[str, str]] = []
    told = {"AGENT2_PLACE": "gpu-1", "AGENT2_QUEUES": "agents", "AGENT2_ENGINE": "vllm"}
    monkeypatch.setattr(join, "joined", lambda *_: told)
    monkeypatch.setattr(os, "execve", lambda program, command, environment: begun.append(environment))
    monkeypatch.setattr("sys.argv", ["join", "https://bench.test", "word", "--data", str(tmp_path), "--start"])
    monkeypatch.setenv("AGENT2_DATA_DIR", "/srv/agent2")
    monkeypatch.setenv("AGENT2_ENGINE", "transformers")
    join.main()
    [environment] = begun
    assert (environment["AGENT2_DATA_DIR"], environment["AGENT2_ENGINE"]) == (str(tmp_path), "transformers")
