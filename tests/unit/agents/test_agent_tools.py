"""Where agents' programs are, and what is said when they are not."""

import dataclasses
import json
from pathlib import Path

import pytest
from django.test import override_settings

from benchmark.agent_folder import SHIPPED_AGENTS, Agent, Install, agent_read
from benchmark.gateway.providers import Provider
from benchmark.models import Run
from benchmark.services.agent_tools import (
    INSIDE,
    AgentUnavailable,
    agent_tools_install,
    agent_tools_mounts,
    agent_tools_versions,
    python_of_version,
    tools_folder_of,
)
from benchmark.services.instructions import prompt_for
from benchmark.services.out_hosts import hosts_missing, out_environment
from benchmark.services.provider_access import provider_problem

CLAUDE = agent_read(SHIPPED_AGENTS / "claude-code")
OPENCODE = agent_read(SHIPPED_AGENTS / "opencode")
EXAMPLE = agent_read(SHIPPED_AGENTS / "example")
KEYED = {"anthropic": Provider("anthropic", "anthropic", "https://api.anthropic.com", "k")}


def test_other_packages_are_another_folder(tmp_path: Path) -> None:
    with override_settings(AGENT_TOOLS_DIR=tmp_path):
        one = tools_folder_of(CLAUDE)
        other = tools_folder_of(dataclasses.replace(CLAUDE, install=Install(npm=("another@1",))))
        assert one is not None
        assert other is not None
        assert one.name.startswith("claude-code-2.1.197-")
        assert one != other
        assert tools_folder_of(EXAMPLE) is None
        assert agent_tools_mounts(EXAMPLE) == []


def test_an_agent_that_is_not_installed_says_how_to(tmp_path: Path) -> None:
    with (
        override_settings(AGENT_TOOLS_DIR=tmp_path),
        pytest.raises(AgentUnavailable, match="agent_install claude"),
    ):
        agent_tools_mounts(CLAUDE)


def test_what_is_installed_is_shown_read_only_with_its_versions(tmp_path: Path) -> None:
    with override_settings(AGENT_TOOLS_DIR=tmp_path):
        folder = tools_folder_of(CLAUDE)
        assert folder is not None
        folder.mkdir()
        (folder / "installed.json").write_text(json.dumps({"@anthropic-ai/claude-code": "2.1.197"}))
        (mount,) = agent_tools_mounts(CLAUDE)
        assert (mount.source, mount.target, mount.read_only) == (folder, INSIDE, True)
        assert agent_tools_versions(CLAUDE) == {"@anthropic-ai/claude-code": "2.1.197"}
        assert agent_tools_install(CLAUDE, progress=print) == folder


def test_a_python_that_is_nowhere_is_named() -> None:
    assert python_of_version("3")
    with pytest.raises(AgentUnavailable, match=r"Python 3\.99"):
        python_of_version("3.99")


@pytest.mark.parametrize(
    ("agent", "driver", "money", "says"),
    [
        (CLAUDE, "claude-opus-4-6", False, ""),
        (CLAUDE, "claude-opus-4-6", True, ""),
        (CLAUDE, "claude-of-tomorrow", True, "AGENT2_PRICES"),
        (OPENCODE, "openai/gpt-5.2", False, "AGENT2_OPENAI_KEY"),
        (OPENCODE, "compatible/x", False, "AGENT2_COMPATIBLE_URL"),
        (OPENCODE, "llama", False, "no driver"),
        (EXAMPLE, "none", True, ""),
    ],
)
def test_what_a_driver_lacks_is_one_sentence(agent: Agent, driver: str, money: bool, says: str) -> None:
    with override_settings(PROVIDERS=KEYED, PRICES_FILE=None):
        told = provider_problem(agent, driver, money=money)
    assert says in told
    assert bool(told) == bool(says)


def test_needed_hosts_are_compared_with_the_allow_list() -> None:
    with override_settings(ALLOW=["pypi.org", "GET+POST:api.x.org"]):
        assert hosts_missing(["pypi.org", "POST:api.x.org"]) == ""
        assert "files.pythonhosted.org" in hosts_missing(["pypi.org", "files.pythonhosted.org"])
        assert "pypi.org" in hosts_missing(["POST:pypi.org"])
        told = out_environment()
    assert told["PIP_INDEX_URL"] == "{gateway}/out/pypi.org/simple/"
    assert "HF_ENDPOINT" not in told
    with override_settings(ALLOW=[]):
        assert out_environment() == {}


def test_the_prompt_of_a_resumed_run_says_so() -> None:
    assert "ended with time left" not in prompt_for(Run())
    assert "ended with time left" in prompt_for(Run(resumed=1))
