"""HumanEval inside real sandboxes, as the grading runner plays it."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from benchmark.sandbox.choose import AnySandbox
from benchmark.sandbox.contract import Mount, Spec
from benchmark.tasks.data_contract import DataTarget
from benchmark.tasks.humaneval.data import prepare, read_rows
from tests.journeys.sandbox.conftest import BUBBLEWRAP, DOCKER, make
from tests.support.checkpoint import small_checkpoint

ROOT = Path(__file__).resolve().parents[3]
CODE = PurePosixPath("/opt/agent2")
PLAY = """
import json, sys, time
from pathlib import Path
from benchmark.tasks.contract import Completion, Record
from grading.runner.task_loading import load_evaluator

evaluator = load_evaluator(Path("/task"), "humaneval/1")
answers = json.loads(Path("/work/answers.json").read_text())
records, began = [], time.monotonic()
for item in evaluator.items(Path("/held_out")):
    if item.id not in answers:
        continue
    episode = evaluator.episode(item)
    next(episode)
    try:
        episode.send(Completion(answers[item.id], 1, "stop"))
    except StopIteration as end:
        o = end.value
        records.append(Record(item.id, "", (), o.answer, o.reward, 1, "stop", o.facts))
metrics = evaluator.metrics(records)
found = {"seconds": time.monotonic() - began, "score": metrics.score, "extra": metrics.extra,
         "outcomes": [[r.item_id, r.facts["outcome"], r.facts["detail"]] for r in records]}
Path("/work/found.json").write_text(json.dumps(found))
"""
READS_THE_TESTS = """
def NAME(*args):
    import ast
    for line in open("/held_out/problems.jsonl"):
        if '"NAME"' in line:
            return ast.literal_eval(line.split("==")[1].split("\\\\n")[0])
"""
HARMS_THE_GRADER = """
import os
for harm in (lambda: os.kill(-1, 9), lambda: os.kill(os.getppid(), 9), lambda: os.remove("/work/answers.json")):
    try:
        harm()
    except OSError:
        pass

def NAME(*args):
    return None
"""


class Folder:
    """A `DataSource` that is one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        return self.folder / name


@pytest.fixture(params=[BUBBLEWRAP, DOCKER])
def sandbox(request: pytest.FixtureRequest) -> AnySandbox:
    made = make(request.param)
    if reason := made.unavailable():
        pytest.skip(reason)
    return made


@pytest.fixture
def held_out(shared_data: Path, tmp_path: Path) -> Path:
    target = DataTarget(tmp_path / "visible", tmp_path / "held_out")
    target.visible.mkdir()
    target.held_out.mkdir()
    prepare(target, Folder(shared_data / "humaneval"))
    return target.held_out


@pytest.fixture
def problems(shared_data: Path) -> list[dict[str, str]]:
    return read_rows(shared_data / "humaneval" / "HumanEval.jsonl.gz")[82:]


def played(sandbox: AnySandbox, held_out: Path, answers: dict[str, str]) -> dict[str, Any]:
    work = held_out.parent / "work"
    work.mkdir()
    (work / "answers.json").write_text(json.dumps(answers))
    mounts = [
        Mount(ROOT / "benchmark" / "tasks" / "humaneval", PurePosixPath("/task")),
        Mount(held_out, PurePosixPath("/held_out")),
        Mount(work, PurePosixPath("/work"), read_only=False),
        Mount(ROOT / "benchmark", CODE / "benchmark"),
        Mount(ROOT / "grading", CODE / "grading"),
    ]
    spec = Spec(
        name=f"test-humaneval-{uuid.uuid4().hex[:8]}",
        command=[sandbox.python, "-c", PLAY],
        mounts=mounts,
        env={"PYTHONPATH": str(CODE), "PYTHONDONTWRITEBYTECODE": "1"},
        log_path=held_out.parent / "log",
    )
    running = sandbox.start(spec)
    try:
        ended = running.wait(240)
    finally:
        running.stop()
    assert ended is not None
    assert ended.code == 0, (held_out.parent / "log").read_text()
    found: dict[str, Any] = json.loads((work / "found.json").read_text())
    return found


def test_all_solutions_pass_in_seconds(sandbox: AnySandbox, held_out: Path, problems: list[dict[str, str]]) -> None:
    """Ten seconds is the aim on two idle cores. Less than a second each is asked for, were others at work or not."""
    answers = {row["task_id"]: row["prompt"] + row["canonical_solution"] for row in problems}
    found = played(sandbox, held_out, answers)
    assert [outcome for outcome in found["outcomes"] if outcome[1] != "passed"] == []
    assert (len(found["outcomes"]), found["score"], found["extra"]["reference_accuracy"]) == (82, 100, 100)
    assert found["seconds"] < 80 * max(1.0, os.getloadavg()[0] / 2)
    print(f"{found['seconds']:.1f} s")


def test_cheats_earn_nothing(sandbox: AnySandbox, held_out: Path, problems: list[dict[str, str]]) -> None:
    cheats = [READS_THE_TESTS, HARMS_THE_GRADER] * 5
    chosen = zip(problems[:10], cheats, strict=True)
    answers = {row["task_id"]: cheat.replace("NAME", row["entry_point"]) for row, cheat in chosen}
    found = played(sandbox, held_out, answers)
    assert found["score"] == 0
    assert [outcome[2] for outcome in found["outcomes"][::2] if "PermissionError" not in outcome[2]] == []
    assert {outcome[1] for outcome in found["outcomes"][1::2]} == {"wrong_answer"}


@pytest.mark.slow
def test_the_runner_grades_a_checkpoint(held_out: Path, tmp_path: Path) -> None:
    """A random model: whatever it says is no code, and the verdict has a score."""
    folder = small_checkpoint(tmp_path / "checkpoint")
    config = json.loads((folder / "config.json").read_text())
    # One token a letter: room for the longest prompt and the answer.
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 4096}))
    checkpoint = str(folder)
    spec = {"protocol": "humaneval/1", "task_dir": str(ROOT / "benchmark/tasks/humaneval"), "held_out": str(held_out)}
    spec |= {"checkpoint": checkpoint, "reference": checkpoint}
    (tmp_path / "spec.json").write_text(json.dumps({**spec, "limit": 1, "threads": 1}))
    command = [sys.executable, "-m", "grading.runner", str(tmp_path / "spec.json"), str(tmp_path / "out")]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=280)
    verdict = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert (verdict["score"], verdict["n_scored"], verdict["finding"]) == (0.0, 1, None), verdict
    shares = [verdict["metrics"][f"{kind}_percent"] for kind in ("no_code", "syntax_error", "wrong_answer", "error")]
    assert sum(shares) == pytest.approx(100)
