"""The composed stack keeps its promises: pinned, watched, restarted, unprivileged, and described."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmark.join import written

ROOT = Path(__file__).resolve().parents[3]
FILES = ("docker-compose.yml", "docker-compose.host.yml")
OVERLAYS = ("docker-compose.gpu.yml", "docker-compose.host-gpu.yml")
HARD = "a $HOME&(b) #c`!*="
"""A secret key with what a shell or compose might take for its own."""
ONE_SHOT = {"prepare", "migrate", "sandbox"}
OURS = {"web", "migrate", "beat", "worker-default", "worker-agents", "worker-grading", "worker"}
COMPOSE_ONLY = {
    *("AGENT2_SITE", "AGENT2_UPLOAD_MAX", "AGENT2_VERSION", "AGENT2_AGENT_GPUS", "AGENT2_GRADING_GPU"),
    *("AGENT2_ENV_FILE", "AGENT2_QUEUES", "AGENT2_TLS", "AGENT2_TRUSTED_PROXIES"),
}


def services() -> list[Any]:
    found = []
    for file in FILES:
        stack = yaml.safe_load((ROOT / file).read_text())
        found += [pytest.param(name, service, id=name) for name, service in stack["services"].items()]
    return found


@pytest.mark.parametrize(("name", "service"), services())
class TestEachService:
    def test_its_image_has_a_version(self, name: str, service: dict[str, Any]) -> None:
        assert re.search(r":(-?[\w${}:.-]+)$", service["image"]), service["image"]

    def test_comes_back_and_its_log_is_bounded(self, name: str, service: dict[str, Any]) -> None:
        if name in ONE_SHOT:
            return
        assert service["restart"] == "unless-stopped"
        assert service["logging"]["options"]["max-size"]

    def test_its_health_is_looked_at(self, name: str, service: dict[str, Any]) -> None:
        if name not in ONE_SHOT | {"beat", "proxy"}:
            assert service["healthcheck"]["test"]

    def test_is_not_privileged(self, name: str, service: dict[str, Any]) -> None:
        assert not service.get("privileged")
        assert service.get("network_mode") != "host"
        assert service.get("pid") is None
        if name in OURS:
            assert (service["cap_drop"], service["read_only"]) == (["ALL"], True)
            assert service["security_opt"] == ["no-new-privileges:true"]

    def test_only_workers_have_the_engines_socket(self, name: str, service: dict[str, Any]) -> None:
        if any("docker.sock" in str(volume) for volume in service.get("volumes", ())):
            assert name.startswith("worker")


def test_every_setting_is_described() -> None:
    described = (ROOT / "docs" / "settings.md").read_text()
    texts = [(ROOT / name).read_text() for name in (*FILES, *OVERLAYS, ".env.example")]
    named = set(re.findall(r"AGENT2_[A-Z0-9_]*[A-Z0-9]", "\n".join(texts))) - COMPOSE_ONLY
    assert {name for name in named if f"`{name}`" not in described} == set()


def test_what_must_be_set_is_in_the_example() -> None:
    example = (ROOT / ".env.example").read_text()
    asked = re.findall(r"\$\{([A-Z0-9_]+):\?", (ROOT / "docker-compose.yml").read_text())
    assert asked
    assert {name for name in asked if f"\n{name}=" not in example} == set()


@pytest.mark.parametrize("name", ["app", "sandbox"])
def test_images_end_as_somebody_who_is_not_root(name: str) -> None:
    stages = re.split(r"^FROM ", (ROOT / "docker" / f"{name}.Dockerfile").read_text(), flags=re.MULTILINE)[1:]
    assert len(stages) > 1
    for stage in stages:
        if "\nCMD " in stage:
            assert re.findall(r"^USER (\w+)", stage, re.MULTILINE)[-1] in ("agent2", "agent")


def composed(tmp_path: Path, *files: str, **settings: str) -> dict[str, Any]:
    """Services as `docker compose` reads them; that asks no engine."""
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("no Docker Compose: scripts/docker_compose_plugin.sh installs it")
    example = (ROOT / ".env.example").read_text()
    given = {"AGENT2_SECRET_KEY": "a", "POSTGRES_PASSWORD": "b", "REDIS_PASSWORD": "c", **settings}
    given |= {"AGENT2_ENV_FILE": str(tmp_path / ".env"), "AGENT2_DATA_DIR": str(tmp_path)}
    lines = "".join(f"{name}={value}\n" for name, value in given.items())
    (tmp_path / ".env").write_text(example + lines)
    written(tmp_path, {"AGENT2_PLACE": "gpu-1", "AGENT2_SECRET_KEY": HARD})
    command = ["docker", "compose", "--project-directory", str(ROOT), "--env-file", str(tmp_path / ".env")]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AGENT2_")}
    done = subprocess.run(
        [*command, *(word for file in files for word in ("-f", str(ROOT / file))), "config", "--format", "json"],
        capture_output=True, text=True, check=False, env=clean,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "variable is not set" not in done.stderr
    return dict(json.loads(done.stdout)["services"])


def gpus(service: dict[str, Any]) -> list[Any]:
    return list(service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", []))


def test_the_example_is_enough(tmp_path: Path) -> None:
    found = composed(tmp_path, "docker-compose.yml")
    assert not [name for name, service in found.items() if gpus(service)]
    assert found["proxy"]["environment"]["AGENT2_SITE"] == "bench.example.org"
    assert found["web"]["environment"]["AGENT2_ALLOWED_HOSTS"] == "bench.example.org,web,localhost"


def test_gpus_go_to_those_who_lend_them(tmp_path: Path) -> None:
    asked = {"AGENT2_AGENT_GPUS": "1,2,3", "AGENT2_AGENT_SLOTS": "3", "AGENT2_GRADING_GPU": "0"}
    found = composed(tmp_path, "docker-compose.yml", "docker-compose.gpu.yml", **asked)
    assert {name for name, service in found.items() if gpus(service)} == {"worker-agents", "worker-grading"}
    agents, grading = found["worker-agents"], found["worker-grading"]
    assert gpus(agents) == [{"capabilities": ["gpu", "utility"], "driver": "nvidia", "count": -1}]
    assert (agents["environment"]["AGENT2_GPUS"], agents["environment"]["AGENT2_AGENT_SLOTS"]) == ("1,2,3", "3")
    assert (grading["environment"]["AGENT2_GPUS"], grading["environment"]["AGENT2_GRADING_SLOTS"]) == ("0", "1")
    assert agents["environment"]["AGENT2_GRADING_SLOTS"] == grading["environment"]["AGENT2_AGENT_SLOTS"] == "0"


def test_a_host_asks_for_gpus_where_it_has_some(tmp_path: Path) -> None:
    plain = composed(tmp_path, "docker-compose.host.yml")["worker"]
    assert (gpus(plain), plain["environment"].get("AGENT2_GPUS")) == ([], None)
    # What compose prints can be read by it again, so it doubles dollars.
    told = plain["environment"]["AGENT2_SECRET_KEY"].replace("$$", "$")
    assert (plain["environment"]["AGENT2_PLACE"], told) == ("gpu-1", HARD)
    lent = composed(tmp_path, "docker-compose.host.yml", "docker-compose.host-gpu.yml", AGENT2_GPUS="0,1")["worker"]
    assert (len(gpus(lent)), lent["environment"]["AGENT2_GPUS"]) == (1, "0,1")
