"""The tasks that are measured: their items, and a policy whose words stand in for the checkpoint's.

What a random checkpoint writes is no action. Its tokens are generated and counted all the same, but the episode goes on
with the policy's words, so that every checkpoint plays episodes of the same length. The engine's work stays its own.
"""

import json
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmark.tasks.alfworld import data as alfworld_data
from benchmark.tasks.alfworld import evaluator as alfworld
from benchmark.tasks.alfworld import playing
from benchmark.tasks.alfworld.archives import games_in
from benchmark.tasks.contract import Evaluator, Prompt
from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.deepsearchqa import evaluator as deepsearchqa
from benchmark.tasks.gsm8k import data as gsm8k_data
from benchmark.tasks.gsm8k import evaluator as gsm8k
from benchmark.tasks.services_contract import Hit
from benchmark.tasks.webshop import data as webshop_data
from benchmark.tasks.webshop import evaluator as webshop
from benchmark.tasks.webshop.webshop_env import prompting
from benchmark.tasks.webshop.webshop_env.pages import BACK_TO_SEARCH, BUY, NEXT, PREVIOUS, SUB_PAGES

SEARCH_S, JUDGE_S = 0.3, 0.8
"""What a search and a judge take here: they are slow because they are far away, not because they compute."""
GRADE = {"explanation": "", "correctness_details": {"x": False}, "excessive_answers": ["x"]}


@dataclass(frozen=True)
class Source:
    """A `DataSource` that is one folder."""

    folder: Path

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise DataUnavailable(f"{path} is missing. It comes from {url}.")
        return path


class SlowServices:
    """A search and a judge that answer the same to everybody, after a while."""

    def chat(self, request: Mapping[str, Any], *, fresh: bool = False) -> Mapping[str, Any]:
        time.sleep(JUDGE_S)
        return {"choices": [{"message": {"content": json.dumps(GRADE)}}], "model": "measured"}

    def search(self, query: str, *, count: int) -> Sequence[Hit]:
        time.sleep(SEARCH_S)
        return [Hit(f"Page {n}", f"https://example.org/{n}", "What the page says. " * 12) for n in range(count)]


@dataclass(frozen=True)
class Bounds:
    """How much of a task is played."""

    steps: int
    tokens: int
    moving_window: bool = False
    """Webshop's prompts show the last five steps, a window that moves at each step, in place of the task's blocks."""


@contextmanager
def opened(task: str, folder: Path, bounds: Bounds) -> Iterator[Evaluator]:
    """The task's evaluator, cut to `bounds`, over what `lay_out` wrote into `folder`."""
    if task == "alfworld":
        _set(playing, MAX_STEPS=bounds.steps)
        _set(alfworld, MAX_TOKENS=bounds.tokens)
        games = alfworld.evaluator()
        yield games
        games._room.close()
    elif task == "webshop":
        _set(webshop, MAX_STEPS=bounds.steps, MAX_TOKENS=bounds.tokens)
        if bounds.moving_window:
            _set(prompting, MOST_SHOWN=prompting.FEWEST_SHOWN)
        yield webshop.evaluator()
    elif task == "deepsearchqa":
        _set(deepsearchqa, MAX_TOKENS=bounds.tokens)
        research = deepsearchqa.evaluator()
        research.connect(SlowServices())
        yield research
    else:
        _set(gsm8k, MAX_TOKENS=bounds.tokens)
        yield gsm8k.evaluator()


def _set(module: ModuleType, **constants: int) -> None:
    """Give a task other bounds than its protocol's, in this process."""
    vars(module).update(constants)


def lay_out(task: str, sources: Path, folder: Path, items: int) -> None:
    """Write the held-out folder of a task. Raises: DataUnavailable."""
    source, target = Source(sources / task), DataTarget(folder / "visible", folder)
    target.visible.mkdir(parents=True)
    if task == "alfworld":
        _unseen_games(source, folder)
    elif task == "webshop":
        webshop_data.prepare(target, source)
    elif task == "gsm8k":
        gsm8k_data.prepare(target, source)
    else:
        # What is asked does not matter here, and the published file is not everywhere.
        kind = {"answer": "x", "answer_type": "Set Answer"}
        rows = [{"id": str(n), "problem": _question(n), **kind} for n in range(items)]
        (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def word(task: str, number: int, prompt: Prompt) -> str:
    """What the policy says to `prompt` as its `number`-th word in an episode, from 0."""
    if task == "alfworld":
        return "look" if number % 2 else "inventory"
    if task == "webshop":
        return _shopper(number, prompt.messages[-1].content)
    if task == "deepsearchqa":
        last = prompt.text.endswith("answer[")
        return "something]" if last else f" I look further.\nAction: search[what number {number} is]"
    return ""


def _shopper(number: int, asked: str) -> str:
    """Searches, opens a product, reads of it, chooses an option or goes back, searches again; buys nothing."""
    offered = asked.partition("\nPossible actions:\n")[2].partition("\n\n")[0].splitlines()
    buttons = {f"click[{label.lower()}]" for label in (BACK_TO_SEARCH, PREVIOUS, NEXT, BUY, *SUB_PAGES)}
    others = [action for action in offered if action not in buttons]
    match number % 6:
        case 0:
            return f"search[{asked.splitlines()[0].removeprefix('Request: ')} {number}]"
        case 2:
            return "click[description]"
        case 3:
            return "click[< prev]"
        case _:
            return others[number % len(others)] if others else "click[features]"


def _question(number: int) -> str:
    return f"Which of the {number} largest cities named in the list have a river, a harbour and more than one bridge?"


def _unseen_games(source: Source, folder: Path) -> None:
    try:
        archive = source.file(alfworld_data.REPACKED, sha256=None, url=alfworld_data.URL)
    except DataUnavailable:
        archive = source.file(alfworld_data.RELEASE, sha256=None, url=alfworld_data.URL)
    with zipfile.ZipFile(folder / alfworld.ARCHIVE, "w") as games:
        for split, name, content in games_in(archive):
            if split == alfworld_data.HELD_OUT:
                games.writestr(name + alfworld.FILE, content)
    examples = Path(alfworld.__file__).with_name("examples.json")
    (folder / "examples.json").write_bytes(examples.read_bytes())
