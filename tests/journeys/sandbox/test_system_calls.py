"""System calls that escapes begin with: refused in both sandboxes, and each of them works outside, so the probes do."""

import os
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest

from benchmark.sandbox.contract import Mount

from .conftest import ISOLATING, Bench
from .probes import PROBES

PROGRAM = Path(__file__).with_name("probes.py")


def outcomes(output: str) -> dict[str, str]:
    """The second word of each line by its first."""
    return {words[0]: words[1] for line in output.splitlines() if len(words := line.split()) > 1}


@pytest.mark.parametrize("sandbox", ISOLATING, indirect=True)
def test_are_refused_inside(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "probes").mkdir(mode=0o755)
    (tmp_path / "probes" / "probes.py").write_text(PROGRAM.read_text())
    mounts = [Mount(tmp_path / "probes", PurePosixPath("/probes"))]
    ended, output = bench.run("python3 /probes/probes.py", mounts=mounts)
    assert ended.code == 0, output
    assert outcomes(output) == dict.fromkeys(PROBES, "refused"), output


def test_work_outside() -> None:
    if os.getuid() != 0:
        pytest.skip("the control needs root: outside, only root may do all of it")
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True, timeout=60, check=True)
    refused = [line for line in done.stdout.splitlines() if " refused " in line]
    # A machine's own kernel may lack a few of them, or forbid them to everybody.
    assert len(refused) <= 5, refused
    assert {outcomes(done.stdout)[name] for name in ("keys", "session_keyring", "mount", "raw_socket", "clock")} == {
        "worked"
    }
