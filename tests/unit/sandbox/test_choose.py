"""Which sandbox is picked, and what is said when there is none."""

import sys
from pathlib import Path, PurePosixPath

import pytest

from benchmark.sandbox.bubblewrap import BubblewrapSandbox
from benchmark.sandbox.choose import SandboxUnavailable, sandbox_for
from benchmark.sandbox.contract import Mount, SandboxFault, Spec
from benchmark.sandbox.docker import DockerSandbox
from benchmark.sandbox.interpreter import interpreter_folders, outermost
from benchmark.sandbox.process import ProcessSandbox


@pytest.fixture
def nothing_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A host with neither bubblewrap nor a Docker engine."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/docker.sock")


@pytest.mark.usefixtures("nothing_here")
class TestWithNothingInstalled:
    def test_untrusted_code_is_refused_with_advice(self) -> None:
        with pytest.raises(SandboxUnavailable, match=r"apt install bubblewrap.*Docker Engine"):
            sandbox_for("auto", trusted=False)

    def test_trusted_code_runs_as_a_plain_process(self) -> None:
        assert isinstance(sandbox_for("auto", trusted=True), ProcessSandbox)

    def test_what_was_named_is_not_replaced(self) -> None:
        with pytest.raises(SandboxUnavailable):
            sandbox_for("bubblewrap", trusted=True)
        with pytest.raises(SandboxUnavailable):
            sandbox_for("docker", trusted=True)
        assert "apt install bubblewrap" in str(BubblewrapSandbox().unavailable())
        assert "DOCKER_HOST" in str(DockerSandbox().unavailable())


def test_a_plain_process_is_never_for_untrusted_code() -> None:
    with pytest.raises(SandboxUnavailable, match="does not isolate"):
        sandbox_for("process", trusted=False)
    assert not ProcessSandbox.isolates
    assert BubblewrapSandbox.isolates
    assert DockerSandbox.isolates


def test_a_process_sees_mounts_only_at_their_own_path(tmp_path: Path) -> None:
    spec = Spec(name="a", command=["true"], mounts=[Mount(tmp_path, PurePosixPath("/elsewhere"))])
    with pytest.raises(SandboxFault, match="nothing is mounted"):
        ProcessSandbox().start(spec)


class TestInterpreter:
    def test_needs_the_virtual_environment_and_its_base(self) -> None:
        folders = interpreter_folders(sys.executable)
        for prefix in (sys.prefix, sys.base_prefix):
            path = Path(prefix)
            assert any(path == one or one in path.parents for one in [Path("/usr"), *folders])

    def test_one_in_usr_needs_nothing(self, tmp_path: Path) -> None:
        system = Path("/usr/bin/python3")
        if not system.exists():
            pytest.skip("no system Python")
        assert interpreter_folders(str(system)) == []

    def test_something_else_is_a_fault(self) -> None:
        with pytest.raises(SandboxFault, match="not a working Python"):
            interpreter_folders("/bin/false")

    def test_outermost(self) -> None:
        paths = [Path(text) for text in ("/a/b", "/a", "/ab", "/c/d/e", "/c/d")]
        assert outermost(paths) == [Path("/a"), Path("/ab"), Path("/c/d")]
