"""Each agent's real program, installed from its registry, completes a whole run in the sandbox."""

import json
import os
from pathlib import Path

import pytest

from tests.journeys.agent_clis.conftest import KEYS, Clis
from tests.journeys.agent_clis.session import whole_session
from tests.support.platform import Platform
from tests.support.scripted_provider import Script, Turn

pytestmark = [pytest.mark.bubblewrap, pytest.mark.slow, pytest.mark.timeout(1500)]
"""The time-out allows for an installation."""
AGENTS = [
    ("claude-code", "claude-opus-4-6", "claude-stream", "anthropic"),
    ("codex", "gpt-5.5", "codex-exec", "openai"),
    ("opencode", "openai/gpt-5.5", "opencode", "openai"),
    ("gemini-cli", "gemini-2.5-pro", "gemini", "gemini"),
    ("openhands", "openai/gpt-5.5", "openhands-v1", "openai"),
]
ALWAYS_WHOLE = ("codex",)
"""In Docker; the others only where they are asked for."""
SLOW = ("openhands", "opencode")
"""It takes more than a quarter of a minute for a short session too."""
RUN = "SELECT tokens, cost_usd, versions FROM benchmark_run WHERE slug = %s"
TRACE = """SELECT t.id, t.dialect FROM traces_recording x JOIN benchmark_run r ON r.id = x.run_id
JOIN traces_trace t ON t.id = x.trace_id WHERE x.ingested_at IS NOT NULL AND r.slug = %s"""
LABELS = """SELECT x.number, x.methods FROM traces_methodlabel x JOIN benchmark_run r ON r.id = x.run_id
WHERE r.slug = %s ORDER BY x.id"""
CALLS = "SELECT COUNT(*) FROM traces_event WHERE kind = 'tool_call' AND trace_id = %s"


@pytest.mark.parametrize(("agent", "driver", "dialect", "provider"), AGENTS, ids=[each[0] for each in AGENTS])
def test_a_whole_run(clis: Clis, base: Path, agent: str, driver: str, dialect: str, provider: str) -> None:
    _whole_run(clis, base, agent, driver, dialect, provider)


@pytest.mark.docker
@pytest.mark.parametrize(("agent", "driver", "dialect", "provider"), AGENTS, ids=[each[0] for each in AGENTS])
def test_a_whole_run_in_docker(
    clis_in_docker: Clis, base: Path, agent: str, driver: str, dialect: str, provider: str
) -> None:
    if agent not in ALWAYS_WHOLE and not os.environ.get("AGENT2_TEST_ALL_AGENTS_IN_DOCKER"):
        pytest.skip("a whole run takes half a minute: set AGENT2_TEST_ALL_AGENTS_IN_DOCKER=1 for this agent too")
    _whole_run(clis_in_docker, base, agent, driver, dialect, provider)


@pytest.mark.docker
@pytest.mark.parametrize(
    ("agent", "driver"), [each[:2] for each in AGENTS if each[0] not in ALWAYS_WHOLE], ids=lambda told: told
)
def test_a_short_session_in_docker(clis_in_docker: Clis, base: Path, agent: str, driver: str) -> None:
    if agent in SLOW and not os.environ.get("AGENT2_TEST_ALL_AGENTS_IN_DOCKER"):
        pytest.skip("slow to start: set AGENT2_TEST_ALL_AGENTS_IN_DOCKER=1 for this agent too")
    _short_session(clis_in_docker, base, agent, driver)


@pytest.mark.parametrize(
    ("agent", "driver"),
    [
        ("opencode", "anthropic/claude-opus-4-6"),
        ("opencode", "gemini/gemini-2.5-pro"),
        ("openhands", "anthropic/claude-opus-4-6"),
    ],
)
def test_an_agent_with_another_of_its_providers(clis: Clis, base: Path, agent: str, driver: str) -> None:
    _short_session(clis, base, agent, driver)


def _short_session(clis: Clis, base: Path, agent: str, driver: str) -> None:
    """It looks at a file and ends; what it printed holds what the file says."""
    clis.install(agent)
    clis.provider.play(Script([Turn("cat description.md; expr 41 + 1000", "Look.")]))
    slug = clis.platform.run(base, driver, agent=agent)
    run = clis.platform.ended(slug, 640)
    log = (clis.platform.data / "runs" / slug / "agent.log").read_text(errors="replace")
    assert (run["state"], run["fault_code"]) == ("finished", ""), log[-3000:]
    assert "1041" in log, log[-3000:]
    assert len(clis.provider.generated()) >= 2
    assert clis.platform.query(RUN, slug)[0][0] == len(clis.provider.generated()) * 110


def _whole_run(clis: Clis, base: Path, agent: str, driver: str, dialect: str, provider: str) -> None:
    clis.install(agent)
    clis.provider.play(whole_session(f"models/{base.name}", clis.platform.data / "runs"))
    platform = clis.platform
    slug = platform.run(base, driver, budget=600, agent=agent)
    run = platform.ended(slug, 640)
    log = (platform.data / "runs" / slug / "agent.log").read_text(errors="replace")
    assert (run["state"], run["fault_code"]) == ("finished", ""), log[-3000:]
    rows = platform.get(slug, "submissions/")["results"]
    graded = [(row["state"], row["model_path"]) for row in rows]
    assert graded == [("graded", "output/sft"), ("graded", "output/grpo")], log[-3000:]
    _counted(clis, slug, provider)
    _recorded(platform, slug, dialect, sum(each["called"] for each in clis.provider.generated()))
    _no_key_inside(platform, slug)


def _counted(clis: Clis, slug: str, provider: str) -> None:
    """The gateway's count is what the provider told, request by request, and the key was the platform's."""
    generated = clis.provider.generated()
    read, _, said = clis.provider.script.tokens
    tokens, cost, versions = clis.platform.query(RUN, slug)[0]
    assert tokens == len(generated) * (read + said)
    assert cost is not None
    assert cost > 0
    assert json.loads(versions)["agent"]
    sent = {value for each in clis.provider.seen for value in each["credentials"].values()}
    assert sent in ({KEYS[provider]}, {f"Bearer {KEYS[provider]}"})
    events = [each["data"] for each in clis.platform.get(slug, "events/") if each["kind"] == "tokens"]
    assert events[-1]["total"] == tokens
    assert events[-1]["requests"] == len(generated)
    submissions = clis.platform.get(slug, "submissions/")["results"]
    assert 0 < submissions[0]["tokens"] < submissions[1]["tokens"] <= tokens


def _recorded(platform: Platform, slug: str, dialect: str, calls: int) -> None:
    """Its trace has all calls, and its two submissions their methods and the switch between them."""

    def labels() -> dict[int, list[str]]:
        return {number: json.loads(methods) for number, methods in platform.query(LABELS, slug)}

    platform.until(lambda: bool(platform.query(TRACE, slug)) and len(labels()) == 2, 180, "it is recorded and judged")
    [(trace, found)] = platform.query(TRACE, slug)
    assert found == dialect
    assert platform.query(CALLS, str(trace)) == [(calls,)]
    assert labels()[1] == ["SFT"]
    assert "GRPO" in labels()[2]
    switches = platform.get(slug, "metrics/")["switches"]
    assert [(each["submission"], each["before"], each["after"]) for each in switches] == [(2, "SFT", "GRPO")]


def _no_key_inside(platform: Platform, slug: str) -> None:
    folder = platform.data / "runs" / slug
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert files
    assert not any(key.encode() in content for key in KEYS.values() for content in files)
