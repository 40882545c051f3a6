"""Every byte that an agent's sandbox is given, task by task: nothing held out is among it.

Held-out texts are looked for in every mounted file, archives opened; case, spaces and most punctuation do not count.
"""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

import pytest

from benchmark.catalogue import task_get, tasks
from benchmark.tasks.data_contract import DataTarget
from tests.support.workspaces import Made, made_workspace, prepared

SHORTEST = 24
"""Characters of a normalised text that mean something by themselves: shorter answers, such as 18, are everywhere."""
MOUNTS = {"": False, "instructions.md": True, "description.md": True, "run_meta.json": True, "data": True}
AT_START = {"instructions.md", "description.md", "run_meta.json", "code", "output", "models", "data"}
TOOLS = {"__init__.py", "playing.py", "services.py", "task.py", "task.json"}
CONTRACTS = {"contract.py", "services_contract.py"}
CODE = {
    "arithmetic": {"evaluator.py"},
    "gsm8k": {"evaluator.py", "examples.py"},
    "humaneval": {
        *("candidate.py", "court.py", "evaluator.py", "extraction.py"),
        *("judge.py", "nursery.py", "seccomp.py", "wire.py"),
    },
    "alfworld": {"evaluator.py", "games.py", "household.py", "playing.py"},
    "webshop": {"evaluator.py", "webshop_env/"},
    "deepsearchqa": {"evaluator.py", "grades.py", "judging.py", "react.py"},
}
VISIBLE = {
    "arithmetic": {"train.jsonl"},
    "gsm8k": {"train.jsonl"},
    "humaneval": {"train.jsonl"},
    "alfworld": {
        *("README.md", "alfworld_games/", "examples.json", "rollout.py", "train.zip", "valid_seen.zip"),
    },
    "webshop": {
        *("README.md", "collect.py", "products.jsonl", "requirements.txt"),
        *("sources.json", "train_goals.jsonl", "webshop_env/"),
    },
    "deepsearchqa": {"README.md", "react.py", "train.jsonl"},
    "alpacaeval": {"README.md", "examples.jsonl"},
}


def normalised(text: str) -> str:
    return re.sub(r"[^\w+=]+|_+", " ", text.lower()).strip()


def rows(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def fields(file: str, *names: str) -> Callable[[Path], Iterator[str]]:
    return lambda held_out: (str(row[name]) for row in rows(held_out / file) for name in names)


def games(held_out: Path) -> Iterator[str]:
    """Names of the unseen games, and what each looks like: places and things with their positions."""
    with zipfile.ZipFile(held_out / "valid_unseen.zip") as archive:
        for name in archive.namelist():
            yield name.split("/")[1]
            yield json.loads(archive.read(name))["pddl_problem"]


HELD_OUT: Mapping[str, Callable[[Path], Iterator[str]]] = {
    "arithmetic": fields("items.jsonl", "question"),
    "gsm8k": fields("test.jsonl", "question", "answer"),
    "humaneval": fields("problems.jsonl", "prompt", "test"),
    "alfworld": games,
    # Products are public by protocol: agents shop in the grader's own store.
    "webshop": fields("goals.jsonl", "instruction"),
    "deepsearchqa": fields("questions.jsonl", "problem"),
    "alpacaeval": fields("instructions.jsonl", "instruction", "output"),
}


def source_files(made: Made) -> Iterator[tuple[PurePosixPath, Path]]:
    """Every file that the agent can read below a mount, as it sees it and on the host."""
    for mount in made.workspace.mounts():
        for path in [mount.source] if mount.source.is_file() else sorted(mount.source.rglob("*")):
            if path.is_file():
                yield mount.target / path.relative_to(mount.source), path


def texts(path: Path) -> Iterator[str]:
    """A file's text; an archive's names and its members'."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield name + "\n" + archive.read(name).decode("utf-8", "replace")
    else:
        yield path.name + "\n" + path.read_bytes().decode("utf-8", "replace")


def top(paths: list[PurePosixPath]) -> set[str]:
    return {path.parts[0] + "/" if len(path.parts) > 1 else path.parts[0] for path in paths}


@pytest.fixture(params=sorted(HELD_OUT))
def task_id(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def target(task_id: str, request: pytest.FixtureRequest, shared_data: Path) -> DataTarget:
    """The task's data; AlpacaEval's sources are laid out under their published names first."""
    folder: Path = request.getfixturevalue("sources") if task_id == "alpacaeval" else shared_data / task_id
    return prepared(task_id, folder)


def test_every_shipped_task_is_looked_at() -> None:
    assert set(HELD_OUT) == {task for task in tasks() if not task.startswith(("smith-", "reasoning-gym"))}


def test_the_mounts_are_these_and_no_others(task_id: str, target: DataTarget, base: Path) -> None:
    made = made_workspace(task_get(task_id), target.visible, base)
    found = {str(mount.target): mount.read_only for mount in made.workspace.mounts()}
    expected = {f"/workspace/{name}".rstrip("/"): read_only for name, read_only in MOUNTS.items()}
    expected |= {f"/workspace/models/{base.name}": True, "/agent": True}
    expected |= {"/workspace/tools": True} if task_id in CODE else {}
    assert found == expected
    assert not any(target.held_out.is_relative_to(mount.source) for mount in made.workspace.mounts())


def test_the_files_are_these_and_no_others(task_id: str, target: DataTarget, base: Path) -> None:
    made = made_workspace(task_get(task_id), target.visible, base)
    files = [path.relative_to("/workspace") for path, _ in source_files(made) if path.is_relative_to("/workspace")]
    below = {name: [p.relative_to(name) for p in files if p.parts[0] == name] for name in ("data", "tools")}
    assert top(below["data"]) == VISIBLE[task_id]
    assert {path.name for path in made.workspace.host.iterdir()} == AT_START | ({"tools"} if task_id in CODE else set())
    for empty in ("code", "output"):
        assert not list((made.workspace.host / empty).iterdir())
    lib = PurePosixPath("rollouts/lib/benchmark/tasks")
    ours = [path.relative_to(lib) for path in below["tools"] if path.is_relative_to(lib)]
    rest = {str(path) for path in below["tools"] if not path.is_relative_to(lib)}
    if task_id not in CODE:
        assert not below["tools"]
        return
    assert rest == {"README.md", *(f"rollouts/{name}" for name in TOOLS)}
    assert top(ours) == CONTRACTS | {f"{task_id}/"}
    assert top([path.relative_to(task_id) for path in ours if path.parts[0] == task_id]) == CODE[task_id]


def test_nothing_held_out_is_in_any_of_them(task_id: str, target: DataTarget, base: Path) -> None:
    made = made_workspace(task_get(task_id), target.visible, base)
    secret = {normalised(text) for text in HELD_OUT[task_id](target.held_out)}
    shortest = 4 if task_id == "arithmetic" else SHORTEST
    secret = {text for text in secret if len(text) >= shortest}
    assert len(secret) >= 100 or task_id == "humaneval"
    seen = {path: list(map(normalised, texts(host))) for path, host in source_files(made)}
    assert len(seen) > 10
    leaked = leaks(secret, seen)
    assert not leaked, f"{len(leaked)} held-out texts are visible: {sorted(leaked)[:3]}"
    # The search finds what is there: a held-out text in a file of the agent's would be found.
    planted = max(secret, key=len)
    assert leaks({planted}, {PurePosixPath("x"): [f"before {planted} after"]})


def leaks(secret: set[str], seen: Mapping[PurePosixPath, list[str]]) -> list[tuple[str, str]]:
    """Where a secret text stands, word for word. Each is looked for only where its rarest word occurs."""
    words = {word for text in secret for word in text.split()}
    pieces = [(path, piece, words.intersection(piece.split())) for path, all_ in seen.items() for piece in all_]
    frequency = Counter(word for _, _, here in pieces for word in here)
    rarest: dict[str, list[str]] = {}
    for text in secret:
        rarest.setdefault(min(text.split(), key=lambda word: frequency[word]), []).append(text)
    return [
        (str(path), text[:80])
        for path, piece, here in pieces
        for word in here
        for text in rarest.get(word, ())
        if f" {text} " in f" {piece} "
    ]
