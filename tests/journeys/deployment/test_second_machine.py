"""A second machine joins the composed stack with one command, takes runs, grades them there, drains and leaves."""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.checkpoint import small_checkpoint
from tests.support.compose import BY_HAND, ENDS, LIMIT, SITE, VERSION, Stack, stand_ins, without_token
from tests.support.docker_image import IMAGE
from tests.support.platform import AGENTS, ROOT
from tests.support.second_engine import HERE, SecondEngine, second_engine

pytestmark = [*BY_HAND, pytest.mark.docker, pytest.mark.slow, pytest.mark.timeout(3000)]
DATA = "/srv/agent2"


@pytest.fixture(scope="module")
def engine() -> Iterator[SecondEngine]:
    stand_ins()
    with second_engine() as made:
        yield made


@pytest.fixture(scope="module")
def stack(engine: SecondEngine) -> Iterator[Stack]:
    folder = Path(tempfile.mkdtemp(prefix="agent2-compose-", dir="/var/tmp"))
    made = Stack(folder, "agent2-test-hosts", stand_ins(), listen=HERE)
    made.write()
    try:
        made.build()
        # No worker for agents or grading: whatever runs, runs on the other machine.
        made.up("beat", "worker-default")
        engine.load(f"agent2-worker:{VERSION}", IMAGE)
        yield made
    finally:
        made.down()
    assert made.left() == []


def test_a_machine_joins_works_and_leaves(stack: Stack, engine: SecondEngine, tmp_path: Path) -> None:
    for seen in (stack.data, "/var/lib/docker/overlay2"):
        engine.run("test", "!", "-e", str(seen))
    engine.run("test", "!", "-S", "/var/run/docker.sock")
    told = stack.manage("host", "enrol", "gpu-1")
    join = next(line.split() for line in told.splitlines() if "docker run" in line)
    trust = ["--add-host", f"{SITE}:{HERE}", "-e", f"SSL_CERT_FILE={DATA}/root.crt"]
    engine.run("mkdir", DATA)
    engine.run("sh", "-c", f"cat > {DATA}/root.crt <<'E'\n{stack.root.read_text()}E")
    joined = [word.replace("agent2-worker:latest", f"agent2-worker:{VERSION}") for word in join]
    assert "gpu-1 has joined" in engine.run(*joined[:2], *trust, *joined[2:])
    assert engine.run("stat", "-c", "%u %a", f"{DATA}/worker.env").split() == ["1000", "600"]
    assert "says no" in _refused(engine, [*joined[:2], *trust, *joined[2:]])

    small_checkpoint(tmp_path / "small")
    engine.run("cp", "-r", str(tmp_path / "small"), str(AGENTS), DATA)
    compose = _compose(stack, engine, tmp_path)
    engine.run(*compose, "up", "-d", "--wait")
    stack.until(lambda: "gpu-1: joined, 0 GPUs" in stack.manage("host", "list"), 120, "the host is listed")
    stack.until(lambda: "gpu-1" in stack.get("/queue/").text, 60, "the page Queue has it")

    slug = _queued(stack)
    stack.until(lambda: stack.json(f"/api/v1/runs/{slug}/")["state"] in ENDS, 1200, "the run ends")
    run = stack.json(f"/api/v1/runs/{slug}/")
    assert (run["state"], run["submission_count"]) == ("finished", 2)
    rows = stack.json(f"/api/v1/runs/{slug}/submissions/")["results"]
    assert all(0 <= row["score"] <= 100 for row in rows)
    engine.run("test", "-d", f"{DATA}/runs/{slug}/workspace/output/v2")
    assert not (stack.data / "runs").exists()
    printed = engine.run("cat", f"{DATA}/runs/{slug}/agent.log")
    stack.until(lambda: _log(stack, slug) == without_token(printed), 120, "what the agent printed has travelled")

    assert "1 workers of gpu-1 were told" in stack.manage("host", "drain", "gpu-1")
    waiting = _queued(stack)
    sweeps = 3
    for _ in range(sweeps):
        stack.manage("host", "list")
    assert stack.json(f"/api/v1/runs/{waiting}/")["state"] == "queued"
    stack.manage("cancel", waiting)
    assert "gpu-1 is removed" in stack.manage("host", "remove", "gpu-1")
    engine.run(*compose, "down", "--timeout", "30")
    assert engine.run("docker", "ps", "-aq") == ""


def _compose(stack: Stack, engine: SecondEngine, folder: Path) -> list[str]:
    """As docs/operating.md starts a host, with what this one knows of the site's name and certificate."""
    trust = {"SSL_CERT_FILE": f"{DATA}/root.crt", "AGENT2_AGENT_DIRS": f"{DATA}/{AGENTS.name}"}
    trust |= {"AGENT2_GRADING_LIMIT": LIMIT, **stack.sandbox}
    seen = [f"{path}:{path}:ro" for path in stack.sandbox["AGENT2_SANDBOX_READ_ONLY"].split(",")]
    worker = {"environment": trust, "extra_hosts": [f"{SITE}:{HERE}"], "volumes": seen}
    socket = f"{engine.folder}/docker.sock:/var/run/docker.sock"
    own = yaml.safe_load((ROOT / "docker-compose.host.yml").read_text())["services"]["worker"]["volumes"]
    assert any(volume.endswith(":/var/run/docker.sock") for volume in own)
    worker["volumes"] = [*seen, socket]
    (folder / "more.yml").write_text(json.dumps({"services": {"worker": worker}}))
    settings = [f"AGENT2_VERSION={VERSION}", f"DOCKER_GID={Path(engine.folder, 'docker.sock').stat().st_gid}"]
    files = ["-f", str(ROOT / "docker-compose.host.yml"), "-f", str(folder / "more.yml")]
    return ["env", *settings, "docker", "compose", "-p", "agent2-test-host", *files]


def _refused(engine: SecondEngine, command: list[str]) -> str:
    with pytest.raises(AssertionError) as refused:
        engine.run(*command)
    return str(refused.value)


def _queued(stack: Stack) -> str:
    asked = ("run", "--agent", "scripted", "--task", "arithmetic", "--base-model", f"{DATA}/small")
    told = stack.manage(*asked, "--driver", "submit:2", "--budget", "30m", "--detach")
    return told.strip().rstrip("/").rsplit("/", 1)[1]


def _log(stack: Stack, slug: str) -> str:
    found = re.search(r'href="(/runs/[^"]+/whole\.log)"', stack.get(f"/runs/{slug}/artifacts/").text)
    return stack.get(found[1]).text if found else ""
