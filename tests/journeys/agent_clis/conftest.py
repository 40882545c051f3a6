"""One platform for all agents' real programs, with a scripted provider in place of every real one."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.support.docker_image import host_python_image
from tests.support.folder_task import capitals_write
from tests.support.platform import ROOT, Platform
from tests.support.scripted_provider import Script, ScriptedProvider

TOOLS = Path(os.environ.get("AGENT2_TEST_AGENT_TOOLS", ROOT / "var" / "agent-tools"))
KEYS = {name: f"secret-key-of-{name}-0123456789" for name in ("anthropic", "openai", "gemini")}
PRICES = "gpt-5.5: {input: 2, output: 16, cached: 0.2}\n"


@dataclass
class Clis:
    """`install` brings an agent's program here, once, or skips the test with the reason."""

    platform: Platform
    provider: ScriptedProvider
    installed: set[str] = field(default_factory=set)

    def install(self, agent: str) -> None:
        if agent in self.installed:
            return
        try:
            self.platform.manage("agent_install", agent)
        except AssertionError as error:
            pytest.skip(f"{agent} cannot be installed here: {str(error).strip()[-300:]}")
        self.installed.add(agent)


@contextmanager
def running(data: Path, sandbox: Mapping[str, str]) -> Iterator[Clis]:
    """A platform whose providers are all the one scripted one."""
    with ScriptedProvider(Script([])) as provider:
        (data / "prices.yaml").write_text(PRICES)
        capitals_write(data / "tasks")
        extra = {f"AGENT2_{name.upper()}_URL": provider.url for name in KEYS}
        extra |= {f"AGENT2_{name.upper()}_KEY": key for name, key in KEYS.items()}
        extra |= {"AGENT2_AGENT_TOOLS_DIR": str(TOOLS), "AGENT2_TASK_DIRS": str(data / "tasks"), **sandbox}
        extra |= {"AGENT2_PROVIDER_PATIENCE_S": "60", "AGENT2_PRICES": str(data / "prices.yaml")}
        platform = Platform(data, extra)
        platform.start()
        try:
            yield Clis(platform, provider)
        finally:
            platform.stop()


@contextmanager
def beforehand(platform: Platform) -> Iterator[None]:
    """Install the agent that takes longest beside the first tests; who needs it waits for the rest."""
    command = [sys.executable, "manage.py", "agent_install", "openhands"]
    started = subprocess.Popen(
        command, cwd=ROOT, env=platform.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        started.terminate()
        started.wait(120)


@pytest.fixture(scope="session")
def clis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clis]:
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sandbox = {"AGENT2_SANDBOX": "bubblewrap"}
    with running(tmp_path_factory.mktemp("clis"), sandbox) as made, beforehand(made.platform):
        yield made


@pytest.fixture(scope="module")
def clis_in_docker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clis]:
    with running(tmp_path_factory.mktemp("docker"), host_python_image(tools=True)) as made:
        yield made
