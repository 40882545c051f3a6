"""The real games, read once from the archive in the folder of test data; skipped where that or TextWorld is absent."""

import importlib.util
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from benchmark.tasks.alfworld import data, evaluator
from benchmark.tasks.alfworld.archives import games_in
from benchmark.tasks.alfworld.games import GameRoom

EXAMPLES = Path(evaluator.__file__).with_name("examples.json")


@dataclass(frozen=True)
class RealGames:
    """Names by split, the walkthroughs of the unseen games, and two zip files as the task lays them out."""

    names: dict[str, list[str]]
    walkthroughs: dict[str, list[str]]
    held_out: Path
    train: Path
    """Only the games that examples are made of."""
    unsolvable: list[str] = field(default_factory=list)
    """Of all splits, games that are not marked as solvable."""


@pytest.fixture(scope="session")
def real_games(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> RealGames:
    archive = shared_data / "alfworld" / data.REPACKED
    if not archive.is_file():
        pytest.skip(f"no games at {archive}")
    folder = tmp_path_factory.mktemp("alfworld")
    found = RealGames({}, {}, folder, folder / "train.zip")
    (folder / "examples.json").write_bytes(EXAMPLES.read_bytes())
    shown = {example["game"] for example in json.loads(EXAMPLES.read_text())}
    with zipfile.ZipFile(folder / evaluator.ARCHIVE, "w") as unseen, zipfile.ZipFile(found.train, "w") as train:
        for split, name, content in games_in(archive):
            found.names.setdefault(split, []).append(name)
            if json.loads(content)["solvable"] is not True:
                found.unsolvable.append(name)
            if split == "valid_unseen":
                unseen.writestr(name + evaluator.FILE, content)
                found.walkthroughs[name] = json.loads(content)["walkthrough"]
            elif name in shown and split == "train":
                train.writestr(name + evaluator.FILE, content)
    return found


@pytest.fixture(scope="session")
def room() -> Iterator[GameRoom]:
    for package in ("textworld", "fast_downward"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    made = GameRoom()
    yield made
    made.close()


def example_steps() -> list[dict[str, Any]]:
    """The worked examples as stored."""
    found: list[dict[str, Any]] = json.loads(EXAMPLES.read_text())
    return found
