"""One run, several tasks, one budget: data, URLs, baselines and curves for each, on both deployments."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.folder_task import capitals_write
from tests.support.platform import Platform, services

pytestmark = pytest.mark.bubblewrap


@pytest.fixture(scope="module", params=["embedded", pytest.param("services", marks=pytest.mark.services)])
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A platform with a second task beside arithmetic."""
    data = tmp_path_factory.mktemp("multi")
    capitals_write(data / "tasks")
    extra = {"AGENT2_TASK_DIRS": str(data / "tasks")}
    if request.param == "embedded":
        yield from _running(Platform(data, extra))
    else:
        with services() as environment:
            yield from _running(Platform(data, environment | extra))


def _running(platform: Platform) -> Iterator[Platform]:
    platform.start()
    try:
        yield platform
    finally:
        platform.stop()


def test_each_task_has_its_own_data_url_baseline_and_scores(two: Platform, base: Path) -> None:
    told = two.manage(
        *("run", "--agent", "several", "--mode", "multi", "--task", "arithmetic", "--task", "smith-capitals"),
        *("--base-model", str(base), "--budget", "600s", "--detach"),
    )
    slug = told.strip().rstrip("/").rsplit("/", 1)[1]
    run = two.ended(slug)
    log = (two.data / "runs" / slug / "agent.log").read_text()
    assert run["state"] == "finished", log
    said: dict[str, Any] = {m[1]: json.loads(m[2]) for m in re.finditer(r"^SAID ([a-z -]+) (.*)$", log, re.M)}
    assert said["data"] == {"arithmetic": ["train.jsonl"], "smith-capitals": ["train.jsonl"]}
    assert said["urls"] == ["GRADING_SERVER_URL_ARITHMETIC", "GRADING_SERVER_URL_SMITH_CAPITALS"]
    assert said["no task"][0] == 400
    assert "arithmetic, smith-capitals" in said["no task"][1]["error"]
    assert said["another task"] == 404
    assert [said[name][1]["submission_id"] for name in ("arithmetic", "smith-capitals", "twice")] == [1, 2, 3]
    assert all(said[name][1]["baseline_score"] is not None for name in ("arithmetic", "smith-capitals"))
    assert (said["health"][1]["task"], said["of one"]) == ("smith-capitals", [2, 3])
    baselines = [e["data"] for e in two.get(slug, "events/") if e["kind"] == "run.baseline"]
    assert sorted(each["task"] for each in baselines) == ["arithmetic", "smith-capitals"]
    _one_curve_for_each(two, slug, said)
    instructions = (two.data / "runs" / slug / "workspace" / "instructions.md").read_text()
    assert "| `smith-capitals` |" in instructions
    assert "tasks/arithmetic/submit" in instructions
    assert "$" not in re.sub(r"\$[A-Z_]+", "", instructions)


def _one_curve_for_each(two: Platform, slug: str, said: dict[str, Any]) -> None:
    scored = [
        each for each in (said["arithmetic"], said["smith-capitals"], said["twice"]) if each[1]["score"] is not None
    ]
    assert len(scored) == 3
    for task, numbers in (("arithmetic", [1]), ("smith-capitals", [2, 3])):
        rows = two.http.get(f"{two.url}/api/v1/runs/{slug}/submissions/", params={"task": task}).json()["results"]
        assert [row["number"] for row in rows] == numbers
        page = two.http.get(f"{two.url}/runs/{slug}/", params={"task": task}, follow_redirects=True)
        assert page.status_code == 200


def test_a_multi_run_wants_several_tasks_and_only_it_takes_them(two: Platform, base: Path) -> None:
    def refused(*args: str) -> str:
        with pytest.raises(AssertionError) as found:
            two.manage("run", "--agent", "several", "--base-model", str(base), "--budget", "60s", "--detach", *args)
        return str(found.value)

    assert "2 to 16 tasks" in refused("--mode", "multi", "--task", "arithmetic")
    assert "mode multi" in refused("--task", "arithmetic", "--task", "smith-capitals")
    assert "each task once" in refused("--mode", "multi", "--task", "arithmetic", "--task", "arithmetic")
    assert "no task" in refused("--mode", "multi", "--task", "arithmetic", "--task", "nothing")
