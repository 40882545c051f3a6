"""A second machine on this one: another Docker engine with its own network and its own view of the disk.

It has a network namespace with one link to this machine, a data root, a socket, and a mount namespace in which the
first engine's files and everything in /srv and /var/tmp are out of sight.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.compose import environment

HERE, THERE, SPACE = "10.77.0.1", "10.77.0.2", "agent2-second"
HIDDEN = ("/var/tmp", "/var/lib/docker", "/srv")


@dataclass
class SecondEngine:
    """`run` is a command on the second machine."""

    folder: Path
    pid: int

    @property
    def socket(self) -> str:
        return f"unix://{self.folder}/docker.sock"

    def run(self, *command: str) -> str:
        """Raises: AssertionError: it fails."""
        inside = ["nsenter", "--target", str(self.pid), "--mount", "--net"]
        done = subprocess.run(
            [*inside, *command],
            capture_output=True, text=True, check=False, env={**environment(), "DOCKER_HOST": self.socket},
        )  # fmt: skip
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def load(self, *images: str) -> None:
        """From this machine's engine, as `docker save … | ssh host docker load` does."""
        with subprocess.Popen(["docker", "save", *images], stdout=subprocess.PIPE) as saved:
            subprocess.run(["docker", "-H", self.socket, "load", "-q"], stdin=saved.stdout, check=True)


@contextmanager
def second_engine() -> Iterator[SecondEngine]:
    """Skips without root, or without the programs that it takes."""
    missing = [name for name in ("dockerd", "ip", "nsenter", "unshare") if shutil.which(name) is None]
    if os.getuid() != 0 or missing:
        pytest.skip(f"a second engine takes root and {', '.join(missing) or 'nothing else'}")
    folder = Path(tempfile.mkdtemp(prefix="agent2-engine-", dir="/var/lib"))
    _link()
    hide = "".join(f"mount -t tmpfs none {path}\n" for path in HIDDEN)
    own = f"--data-root {folder}/lib --exec-root {folder}/exec --pidfile {folder}/pid -H unix://{folder}/docker.sock"
    script = f"mount --make-rprivate /\n{hide}mount --bind /dev/null /var/run/docker.sock\nexec dockerd {own}"
    with (folder / "log").open("wb") as log:
        engine = subprocess.Popen(
            ["nsenter", f"--net=/run/netns/{SPACE}", "unshare", "--mount", "bash", "-ec", script],
            stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    made = SecondEngine(folder, engine.pid)
    try:
        _answers(made)
        yield made
    finally:
        engine.send_signal(signal.SIGTERM)
        engine.wait(60)
        subprocess.run(["ip", "netns", "delete", SPACE], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _link() -> None:
    """One link between the two, and a way out of neither."""
    subprocess.run(["ip", "netns", "delete", SPACE], capture_output=True, check=False)
    for line in (
        f"netns add {SPACE}",
        "link add agent2-here type veth peer name agent2-there",
        f"link set agent2-there netns {SPACE}",
        f"addr add {HERE}/24 dev agent2-here",
        "link set agent2-here up",
        f"-n {SPACE} addr add {THERE}/24 dev agent2-there",
        f"-n {SPACE} link set agent2-there up",
        f"-n {SPACE} link set lo up",
    ):
        subprocess.run(["ip", *line.split()], check=True, capture_output=True)


def _answers(engine: SecondEngine) -> None:
    deadline = time.monotonic() + 120
    while subprocess.run(["docker", "-H", engine.socket, "info"], capture_output=True, check=False).returncode:
        assert time.monotonic() < deadline, (engine.folder / "log").read_text()[-3000:]
        time.sleep(0.5)
