"""The task from its archive to a verdict: data laid out, games played by a checkpoint through the stand-alone runner.

A copy of the task ends games after three steps: what a random checkpoint says is no use beyond.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmark.tasks.alfworld import data, evaluator
from benchmark.tasks.alfworld.archives import games_in
from benchmark.tasks.data_contract import DataSource, DataTarget
from grading.contract import RunnerSpec
from tests.unit.runner.checkpoints import character_tokenizer, llama, save

TASK = Path(evaluator.__file__).parent
ROOT = TASK.parents[2]
PACKAGES = ("textworld", "fast_downward")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not all(map(importlib.util.find_spec, PACKAGES)), reason=f"needs {' and '.join(PACKAGES)}"),
]


class Folder(DataSource):
    """Files of one folder, unchecked: `prepare` itself checks the games."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        return self.path / name


@pytest.fixture(scope="module")
def prepared(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> DataTarget:
    folder = tmp_path_factory.mktemp("alfworld")
    target = DataTarget(folder / "visible", folder / "held_out")
    target.visible.mkdir()
    target.held_out.mkdir()
    data.prepare(target, Folder(shared_data / "alfworld"))
    return target


def short_task(folder: Path) -> Path:
    """A copy of the task whose games end after three steps."""
    shutil.copytree(TASK, folder, ignore=shutil.ignore_patterns("__pycache__"))
    playing = folder / "playing.py"
    text = playing.read_text()
    assert "MAX_STEPS = 50\n" in text
    playing.write_text(text.replace("MAX_STEPS = 50\n", "MAX_STEPS = 3\n"))
    return folder


def grade(folder: Path, prepared: DataTarget, batch_size: int) -> tuple[dict[str, object], list[dict[str, object]]]:
    """The verdict on a random checkpoint over three games, and its samples."""
    out = folder / f"out-{batch_size}"
    spec = RunnerSpec(
        protocol="alfworld/1",
        task_dir=str(folder / "task"),
        held_out=str(prepared.held_out),
        checkpoint=str(folder / "checkpoint"),
        reference=str(folder / "checkpoint"),
        batch_size=batch_size,
        limit=3,
        threads=1,
    )
    (folder / "spec.json").write_text(json.dumps(asdict(spec)))
    command = [sys.executable, "-m", "grading.runner", str(folder / "spec.json"), str(out)]
    subprocess.run(command, check=True, cwd=ROOT, capture_output=True, timeout=900)
    samples = [json.loads(line) for line in (out / "samples.jsonl").read_text().splitlines()]
    return json.loads((out / "verdict.json").read_text()), samples


def test_runner_plays_games_the_same_alone_and_together(prepared: DataTarget, tmp_path: Path) -> None:
    short_task(tmp_path / "task")
    save(tmp_path / "checkpoint", llama(max_position_embeddings=8192), character_tokenizer())
    verdict, together = grade(tmp_path, prepared, 3)
    assert (verdict["fault"], verdict["finding"]) == (None, None)
    assert (verdict["score"], verdict["n_scored"], verdict["protocol"]) == (0, 3, "alfworld/1;limit=3")
    for sample in together:
        facts = sample["facts"]
        assert isinstance(facts, dict)
        assert facts["steps"] == len(facts["observations"]) == 3
        assert facts["restarts"] == 0
    _, alone = grade(tmp_path, prepared, 1)
    assert alone == together


def test_no_unseen_game_is_visible(prepared: DataTarget, shared_data: Path) -> None:
    from tests.unit.tasks.alfworld.test_data import all_bytes

    visible = all_bytes(prepared.visible)
    assert visible.count(b"/game.tw-pddl") >= 3553 + 140
    for split, name, content in games_in(shared_data / "alfworld" / data.REPACKED):
        if split == data.HELD_OUT:
            assert name.encode() not in visible
            assert json.dumps(json.loads(content)["pddl_problem"]).encode() not in visible


def test_agents_collect_trajectories_with_what_they_see(prepared: DataTarget) -> None:
    program = """
import json, sys, zipfile
sys.path.insert(0, sys.argv[1])
from rollout import rollouts
archive = sys.argv[1] + "/valid_seen.zip"
games = zipfile.ZipFile(archive)
names = sorted(games.namelist())[::50]
walkthroughs = {name: json.loads(games.read(name))["walkthrough"] for name in names}
openings, batches = {}, []
def speak(prompts):
    batches.append(len(prompts))
    return [best(prompt) for prompt in prompts]
def best(prompt):
    game = prompt.rpartition("Now your task.")[2]
    done = game.count(chr(10) + "> ")
    task = game.partition("Your task is to: ")[2].partition(chr(10))[0]
    return plans[task, game.strip().partition(chr(10))[0]][done]
from alfworld_games.games import Game, GameRoom
room, plans = GameRoom(), {}
for name in names:
    game = Game(room, archive, name)
    first, _, task = game.start().partition(chr(10))
    plans[task.strip().removeprefix("Your task is to: "), first] = walkthroughs[name]
    game.close()
room.close()
print(json.dumps([[t["won"] for t in rollouts(archive, names, speak, at_a_time=2)], batches]))
"""
    command = [sys.executable, "-c", program, str(prepared.visible)]
    ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
    won, batches = json.loads(ended.stdout)
    assert won == [True] * 3
    assert max(batches) == 2
