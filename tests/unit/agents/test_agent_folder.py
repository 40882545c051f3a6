"""Agents' folders: the shipped ones, other people's, and odd ones."""

from pathlib import Path

import pytest

from benchmark.agent_folder import KNOWN_PROVIDERS, SHIPPED_AGENTS, agent_read
from benchmark.folders import CatalogueError
from benchmark.gateway.prices import price_of, prices_read
from traces.dialects import LINES

SHIPPED = sorted(path.parent for path in SHIPPED_AGENTS.glob("*/config.yaml"))


def folder(tmp_path: Path, config: str, start: bool = True) -> Path:
    made = tmp_path / "theirs"
    made.mkdir()
    (made / "config.yaml").write_text(config)
    if start:
        (made / "start.sh").write_text("#!/bin/bash\n")
    return made


@pytest.mark.parametrize("path", SHIPPED, ids=[path.name for path in SHIPPED])
def test_shipped_agents_say_all_that_is_needed(path: Path) -> None:
    agent = agent_read(path)
    assert agent.title
    assert agent.version
    assert agent.summary
    assert (path / "start.sh").stat().st_mode & 0o100
    if agent.drivers == ("none",):
        return
    assert agent.install.needed
    assert agent.smoke
    assert agent.version in " ".join((*agent.install.npm, *agent.install.pypi))
    for driver in agent.drivers:
        provider, model = agent.driver_parts(driver)
        assert provider in KNOWN_PROVIDERS
        assert model


def test_shipped_agents_are_the_six() -> None:
    assert {path.name for path in SHIPPED} == {
        *("claude-code", "codex", "example", "gemini-cli", "opencode", "openhands"),
    }


def test_most_first_drivers_have_a_price() -> None:
    unpriced = [
        agent.id
        for agent in map(agent_read, SHIPPED)
        if agent.driver_parts(agent.drivers[0])[0] == "anthropic"
        and price_of(agent.driver_parts(agent.drivers[0])[1], prices_read()) is None
    ]
    assert unpriced == []


def test_a_folder_in_the_reference_s_shape_works_as_it_is(tmp_path: Path) -> None:
    agent = agent_read(folder(tmp_path, "name: Theirs\ndescription: Their agent.\nenv_vars:\n  MAX_STEPS: 30\n"))
    assert (agent.title, agent.summary, dict(agent.env)) == ("Theirs", "Their agent.", {"MAX_STEPS": "30"})
    assert agent.drivers == ("none",)
    assert agent.driver_parts("claude-opus-4-6") == ("anthropic", "claude-opus-4-6")
    assert not agent.trusted


@pytest.mark.parametrize(
    ("driver", "told"),
    [
        ("none", ("", "")),
        ("gpt-5.2", ("openai", "gpt-5.2")),
        ("o3-mini", ("openai", "o3-mini")),
        ("gemini-2.5-pro", ("gemini", "gemini-2.5-pro")),
        ("compatible/Qwen/Qwen3-32B", ("compatible", "Qwen/Qwen3-32B")),
        ("anthropic/claude-x", ("anthropic", "claude-x")),
        ("llama", ("", "")),
    ],
)
def test_a_driver_names_its_provider_or_lets_it_be_told(tmp_path: Path, driver: str, told: tuple[str, str]) -> None:
    assert agent_read(folder(tmp_path, "name: a\n")).driver_parts(driver) == told


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ("- a\n", "mapping"),
        ("{", "cannot be read"),
        ("provider: someone\n", "provider"),
        ("drivers: one\n", "drivers"),
        ("install: [a]\n", "install"),
        ("install: {npm: [pkg]}\n", "exact version of pkg"),
        ("install: {npm: ['@scope/pkg']}\n", "exact version"),
        ("install: {pypi: ['pkg>=1']}\n", "exact version"),
        ("smoke: claude --version\n", "smoke"),
        ("trusted: true\nneeds: {hosts: x}\n", "needs.hosts"),
        ("needs: [hosts]\n", "needs must be a mapping"),
        ("env: [MAX_STEPS=30]\n", "env must be a mapping"),
        ("env_vars: MAX_STEPS=30\n", "env_vars must be a mapping"),
    ],
)
def test_an_odd_folder_is_told_what_is_wrong(tmp_path: Path, config: str, says: str) -> None:
    with pytest.raises(CatalogueError, match=says):
        agent_read(folder(tmp_path, config))


def test_a_file_that_is_no_text_is_told_so(tmp_path: Path) -> None:
    made = folder(tmp_path, "")
    (made / "config.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(CatalogueError, match=r"config\.yaml cannot be read"):
        agent_read(made)


def test_a_folder_without_a_start_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match=r"start\.sh"):
        agent_read(folder(tmp_path, "name: a\n", start=False))


def test_nobody_else_is_trusted(tmp_path: Path) -> None:
    assert not agent_read(folder(tmp_path, "trusted: true\n")).trusted


def test_declared_dialects_are_ones_that_are_read() -> None:
    known = {each.name for each in LINES} | {"raw"}
    assert {agent_read(path).trace for path in SHIPPED} <= known
