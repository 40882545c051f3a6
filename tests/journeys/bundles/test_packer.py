"""The packer as people use it: downloaded from the site, run by a bare Python, over real processes and real data."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.bundling import workspace_files
from tests.support.platform import Platform

PEOPLE = """
from tests.support.people import person
from benchmark.services.tokens import token_create
_, secret = token_create(user=person("ada", "submitter"), name="tests", scopes=["read", "submit"])
print("secret", secret)
"""
GIVEN = ["--set", "contact.name=Ada", "--set", "licence=CC-BY-4.0"]
Pack = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    platform = Platform(tmp_path_factory.mktemp("packer") / "site").start()
    try:
        yield platform
    finally:
        platform.stop()


@pytest.fixture(scope="module")
def pack(site: Platform, tmp_path_factory: pytest.TempPathFactory) -> Pack:
    folder = tmp_path_factory.mktemp("elsewhere")
    script = folder / "agent2_pack.py"
    script.write_bytes(site.http.get(f"{site.url}/bundles/agent2_pack.py").raise_for_status().content)
    told = site.manage("shell", "-c", PEOPLE)
    secret = next(line.split()[1] for line in told.splitlines() if line.startswith("secret "))

    def run(*arguments: str, token: str = secret) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-I", "-S", str(script), *arguments]
        environment = {"AGENT2_TOKEN": token, "PYTHONUTF8": "1"}
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=280
        )

    return run


def page_of(told: "subprocess.CompletedProcess[str]") -> str:
    """The bundle's address, as the packer says it."""
    found = re.search(r"Sent: (\S+)", told.stdout)
    assert found is not None, told.stdout + told.stderr
    return found[1]


def report_of(site: Platform, page: str) -> Any:
    slug = page.rstrip("/").rsplit("/", 1)[-1]
    lines = ("import json", "from bundles.models import Bundle", f"found = Bundle.objects.get(slug='{slug}')")
    script = "\n".join([*lines, "print('report', json.dumps(found.report))"])
    told = site.manage("shell", "-c", script)
    return json.loads(next(line for line in told.splitlines() if line.startswith("report "))[7:])


def test_a_workspace_from_its_folder_to_an_accepted_bundle(site: Platform, pack: Pack, tmp_path: Path) -> None:
    for name, content in workspace_files().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    told = pack("send", str(tmp_path), "-o", str(tmp_path / "run.zip"), "--url", site.url, "--yes", *GIVEN)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "State: accepted" in told.stdout
    assert "100%" in told.stderr
    assert site.http.get(page_of(told)).status_code == 404, "nobody but its owner and moderators sees it yet"


def test_real_result_directories(site: Platform, pack: Pack, tmp_path: Path, shared_data: Path) -> None:
    for folder in sorted((shared_data / "bundles" / "posttrainbench").iterdir()):
        out = tmp_path / f"{folder.name}.zip"
        told = pack("send", str(folder), "-o", str(out), "--url", site.url, "--yes", *GIVEN)
        assert told.returncode == 0, told.stdout + told.stderr
        assert "State: accepted" in told.stdout


def test_a_run_that_contradicts_itself_is_not_sent_and_refused_if_sent(
    site: Platform, pack: Pack, tmp_path: Path, shared_data: Path
) -> None:
    workspace, out = shared_data / "bundles" / "autorl_workspace", tmp_path / "run.zip"
    told = pack("send", str(workspace), "-o", str(out), "--url", site.url, "--yes", *GIVEN)
    assert told.returncode == 1
    assert "It is not sent" in told.stderr
    told = pack("upload", str(out), "--url", site.url)
    assert told.returncode == 1
    assert "State: rejected" in told.stdout


def test_what_is_checked_here_is_checked_there(site: Platform, pack: Pack, tmp_path: Path, shared_data: Path) -> None:
    """The packer's findings are the server's, but for what only a platform knows."""
    folder = shared_data / "bundles" / "posttrainbench" / "gsm8k_Qwen_Qwen3-1.7B-Base_20260318_180406"
    told = pack("pack", str(folder), "-o", str(tmp_path / "run.zip"), *GIVEN)
    offline = set(re.findall(r"^(?:ERROR|warning|missing|note) +(.+?)(?:  \(.*)?$", told.stdout, re.MULTILINE))
    page = page_of(pack("upload", str(tmp_path / "run.zip"), "--url", site.url))
    online = {each["title"] for each in report_of(site, page)["findings"]}
    assert offline <= online
    assert online - offline <= {"The base model is not one of this platform's", "This archive came before"}


def test_a_stranger(site: Platform, pack: Pack, tmp_path: Path) -> None:
    (tmp_path / "run.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    told = pack("upload", str(tmp_path / "run.zip"), "--url", site.url, token="a2_" + "x" * 40)
    assert told.returncode == 2
    assert told.stderr.startswith("401")
