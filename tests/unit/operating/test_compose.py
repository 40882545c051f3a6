"""The composed stack keeps its promises: pinned, watched, restarted, unprivileged, and described."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
FILES = ("docker-compose.yml", "docker-compose.host.yml")
ONE_SHOT = {"prepare", "migrate", "sandbox"}
OURS = {"web", "migrate", "beat", "worker-default", "worker-agents", "worker-grading", "worker"}
COMPOSE_ONLY = {
    *("AGENT2_SITE", "AGENT2_UPLOAD_MAX", "AGENT2_VERSION", "AGENT2_AGENT_GPUS", "AGENT2_GRADING_GPU"),
    *("AGENT2_ENV_FILE", "AGENT2_QUEUES"),
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
    texts = [(ROOT / name).read_text() for name in (*FILES, "docker-compose.gpu.yml", ".env.example")]
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
