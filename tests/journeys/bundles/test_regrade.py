"""Weights that a bundle brings along, graded here at a moderator's wish, from upload to verdict."""

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.bundling import DETAILS, FOLDER, workspace_files
from tests.support.platform import Platform
from tests.support.tus import Tus

PEOPLE = """
from tests.support.people import person
from benchmark.services.tokens import token_create
_, secret = token_create(user=person("ada", "submitter"), name="tests", scopes=["read", "submit"])
print("secret", secret)
"""
ASK = """
from tests.support.people import person
from bundles.models import Bundle
from bundles.services.regrade_request import regrade_request
moderator, _ = User.objects.get_or_create(username="moderator")
regrade_request(bundle=Bundle.objects.get(slug="{slug}"), actor=moderator, number=3)
"""
START = FOLDER.replace("gsm8k", "arithmetic")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Platform]:
    platform = Platform(tmp_path / "site").start()
    try:
        yield platform
    finally:
        platform.stop()


def archive_of(base: Path, path: Path) -> Path:
    """A run on the arithmetic task whose third checkpoint lies in the archive; one tensor's bytes are changed."""
    files = {name.replace("gsm8k", "arithmetic"): content for name, content in workspace_files().items()}
    meta = json.loads(files[f"{START}/run_meta.json"])
    meta |= {"task": "arithmetic", "base_model": str(base)}
    files[f"{START}/run_meta.json"] = json.dumps(meta).encode()
    for file in base.iterdir():
        content = file.read_bytes()
        if file.name == "model.safetensors":
            content = content[:-4] + bytes(4)
        files[f"{START}/output/v3/{file.name}"] = content
    with zipfile.ZipFile(path, "w") as made:
        for name, content in files.items():
            made.writestr(name, content)
    return path


def test_a_moderator_has_the_checkpoint_graded(site: Platform, base: Path, tmp_path: Path) -> None:
    told = site.manage("shell", "-c", PEOPLE)
    secret = next(line.split()[1] for line in told.splitlines() if line.startswith("secret "))
    tus = Tus(site.http, site.url, secret)
    details = {**DETAILS, "protocol": "arithmetic/1"}
    place = tus.send(archive_of(base, tmp_path / "run.zip"), details=details).headers["Bundle-Location"]
    facts: dict[str, Any] = {}

    def look() -> dict[str, Any]:
        facts.update(site.http.get(site.url + "/api/v1" + place, headers=tus.headers).json())
        return facts

    site.until(lambda: look()["state"] not in ("received", "checking"), 180, "the check ends")
    assert facts["state"] == "accepted", facts["report"]
    assert [each["weights"] for each in facts["report"]["claim"]["submissions"]] == ["", "", f"{START}/output/v3"]
    site.manage("shell", "-c", ASK.format(slug=facts["bundle"]))
    run = f"{site.url}/api/v1/runs/{facts['run']}/submissions/"

    def third() -> dict[str, Any]:
        return dict(site.http.get(run, headers=tus.headers).json()["results"][2])

    site.until(lambda: not third()["claimed"], 180, "the third submission is graded here")
    graded = third()
    assert graded["score"] == float(int(graded["digest"][:8], 16) % 101)
    assert [each["claimed"] for each in site.http.get(run, headers=tus.headers).json()["results"]] == [
        True,
        True,
        False,
    ]
