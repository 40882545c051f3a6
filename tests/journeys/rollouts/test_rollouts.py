"""Agents play training items in a real sandbox with the library that they are given."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from benchmark.catalogue import task_get
from benchmark.gateway.process import Gateway
from benchmark.sandbox.bubblewrap import BubblewrapSandbox
from benchmark.sandbox.contract import Exit, Spec
from benchmark.services.execution import run_environment
from grading.services.desks import judge_desk, search_desk
from tests.support.judge import ScriptedJudge
from tests.support.workspaces import Made, made_workspace, prepared

PLAYER = Path(__file__).with_name("player.py")
DOCUMENT = "On December 15, 2014 the Supreme Court's order list had 86 certiorari denials."

pytestmark = [
    pytest.mark.bubblewrap,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Path]:
    """A socket that leads nowhere, as an agent's does but for grading."""
    with Gateway(socket=tmp_path / "gateway.sock") as open_:
        yield open_.path


def inside(made: Made, socket: Path, script: str, log: Path) -> tuple[Exit, str]:
    """Run a script as the agent of that workspace."""
    sandbox = BubblewrapSandbox()
    running = sandbox.start(
        Spec(
            name=f"rollouts-{uuid4().hex[:12]}",
            command=["bash", "-c", script],
            mounts=made.workspace.mounts(),
            env=run_environment(made.run, [made.task], made.workspace, "token", sandbox.python),
            workdir=made.workspace.inside,
            socket=socket,
            log_path=log,
        )
    )
    try:
        ended = running.wait(240)
    finally:
        running.stop(0)
    assert ended is not None, log.read_text()
    return ended, log.read_text()


def play(made: Made, socket: Path, folder: Path, count: int) -> dict[str, Any]:
    (made.workspace.host / "code" / "player.py").write_text(PLAYER.read_text())
    ended, output = inside(made, socket, f'"$PYTHON" code/player.py {count}', folder / "agent.log")
    assert ended.code == 0, output
    told: dict[str, Any] = json.loads(output.rpartition("RESULT ")[2])
    return told


@pytest.mark.parametrize(
    ("task_id", "count", "reward"), [("arithmetic", 10, 1.0), ("gsm8k", 6, 1.0), ("humaneval", 5, 1.0)]
)
def test_single_turns(
    task_id: str, count: int, reward: float, shared_data: Path, base: Path, gateway: Path, tmp_path: Path
) -> None:
    made = made_workspace(task_get(task_id), prepared(task_id, shared_data / task_id).visible, base)
    told = play(made, gateway, tmp_path, count)
    assert [played["reward"] for played in told["played"]] == [reward] * count
    assert told["calls"] == [4] * (count // 4) + [count % 4]
    for played in told["played"]:
        [step] = played["steps"]
        assert step["reward"] == reward
        assert step["prompt"]["messages"] or step["prompt"]["text"]
        assert step["action"] == played["answer"]
    if task_id == "arithmetic":
        # What follows a stop string is cut off, as the grader's engines do.
        assert told["played"][0]["steps"][0]["output"].isdigit()


def test_shopping(shared_data: Path, base: Path, gateway: Path, tmp_path: Path) -> None:
    made = made_workspace(task_get("webshop"), prepared("webshop", shared_data / "webshop").visible, base)
    told = play(made, gateway, tmp_path, 6)
    assert len(told["played"]) == 6
    assert sum(played["reward"] for played in told["played"]) > 1
    for played in told["played"]:
        search, product, buy = played["steps"]
        assert search["action"].startswith("search[")
        assert product["action"].startswith("click[b0")
        assert (buy["output"], buy["action"]) == ("Action: click[buy now]", "click[buy now]")
        assert [step["reward"] for step in played["steps"]] == [0.0, 0.0, played["reward"]]


@pytest.mark.slow
def test_household_games(shared_data: Path, base: Path, gateway: Path, tmp_path: Path) -> None:
    pytest.importorskip("textworld", reason="TextWorld is not installed")
    made = made_workspace(task_get("alfworld"), prepared("alfworld", shared_data / "alfworld").visible, base)
    told = play(made, gateway, tmp_path, 5)
    assert [played["reward"] for played in told["played"]] == [1.0] * 5
    assert all(len(played["steps"]) >= 3 for played in told["played"])
    assert max(told["calls"]) == 4


@pytest.fixture
def questions(shared_data: Path, tmp_path: Path) -> Path:
    """Four public questions laid out as visible data."""
    folder = tmp_path / "visible"
    folder.mkdir()
    path = shared_data / "deepsearchqa" / "sample_with_gold.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    (folder / "train.jsonl").write_text("".join(json.dumps({"id": row["qid"], **row}) + "\n" for row in rows))
    return folder


def test_without_services_it_says_so_at_once(questions: Path, base: Path, gateway: Path, tmp_path: Path) -> None:
    made = made_workspace(task_get("deepsearchqa"), questions, base)
    (made.workspace.host / "code" / "player.py").write_text(PLAYER.read_text())
    ended, output = inside(made, gateway, '"$PYTHON" code/player.py 4', tmp_path / "agent.log")
    assert ended.code == 1
    assert "ask a judge and a search, which this deployment offers to no agent" in output
    assert "Traceback" not in output


def test_research_with_the_deployments_services(questions: Path, base: Path, tmp_path: Path, settings: Any) -> None:
    from tests.journeys.tasks.test_deepsearchqa import fair

    documents = tmp_path / "documents.jsonl"
    row = {"title": "Order list", "url": "https://example.org/1", "text": DOCUMENT}
    documents.write_text(json.dumps(row) + "\n")
    settings.SEARCH_BACKEND, settings.SEARCH_URL = "corpus", str(documents)
    settings.ROLLOUT_SERVICES = ["judge", "search"]
    with ScriptedJudge(fair) as judge:
        settings.JUDGE_URL, settings.JUDGE_MODEL, settings.JUDGE_KEY = judge.url, judge.model, judge.key
        made = made_workspace(task_get("deepsearchqa"), questions, base)
        routes = [judge_desk().route(), search_desk().route()]
        with Gateway(socket=tmp_path / "open.sock", routes=routes) as open_:
            told = play(made, open_.path, tmp_path, 4)
        assert len(judge.requests) == 4
    by_item = {played["item"]: played for played in told["played"]}
    right = by_item["dsqa_028"]
    assert right["reward"] == 1.0
    assert [step["action"] for step in right["steps"]] == ["search[certiorari denials December 15]", "answer[86]"]
    assert "86 certiorari denials" in right["steps"][1]["prompt"]["text"]
    assert sorted(played["reward"] for played in told["played"]) == [0.0, 0.0, 0.0, 1.0]


def test_a_service_that_fails_is_no_zero(
    questions: Path, base: Path, gateway: Path, tmp_path: Path, settings: Any
) -> None:
    settings.ROLLOUT_SERVICES = ["judge", "search"]
    made = made_workspace(task_get("deepsearchqa"), questions, base)
    told = play(made, gateway, tmp_path, 2)
    for played in told["played"]:
        assert played["reward"] is None
        assert "cannot be reached from inside the sandbox" in played["fault"]


def test_the_library_cannot_be_changed(base: Path, gateway: Path, tmp_path: Path, shared_data: Path) -> None:
    made = made_workspace(task_get("arithmetic"), prepared("arithmetic", shared_data / "arithmetic").visible, base)
    script = "touch tools/new; rm -f tools/README.md; echo > tools/rollouts/playing.py; ls tools"
    _, output = inside(made, gateway, script, tmp_path / "agent.log")
    assert output.count("Read-only file system") == 3
    assert output.splitlines()[-2:] == ["README.md", "rollouts"]
