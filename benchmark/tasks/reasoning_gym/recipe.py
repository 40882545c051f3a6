"""Any data set of reasoning-gym as a task: generated, split by seed, scored by its own `score_answer`.

The id `reasoning-gym:<data set>` names one with its default settings. A `task.yaml` with `id` and `reasoning_gym`
names one too, and may set `held_out`, `visible`, `max_tokens` and `config`, the data set's own settings.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from benchmark.tasks.contract import Evaluator
from benchmark.tasks.data_contract import DataTarget
from benchmark.tasks.folder_task_yaml import REASONING_GYM_FOLDER, BadFolder, whole_number

HELD_OUT, VISIBLE, MAX_TOKENS = 200, 1000, 2048
NAMES = "datasets.txt"
VERSION = 1
"""Of everything here and in the evaluator that decides a score."""


def pinned_version() -> str:
    """The version of reasoning-gym that scores rest on."""
    found = re.search(r"^reasoning-gym==(\S+)", (REASONING_GYM_FOLDER / "requirements.txt").read_text(), re.MULTILINE)
    assert found
    return found[1]


@cache
def known_datasets() -> Sequence[str]:
    """Names that the pinned version has."""
    return (REASONING_GYM_FOLDER / NAMES).read_text().split()


@dataclass(frozen=True)
class GymRecipe:
    """See `Recipe`."""

    task_id: str
    dataset: str
    held_out: int = HELD_OUT
    visible: int = VISIBLE
    max_tokens: int = MAX_TOKENS
    config: Mapping[str, Any] = field(default_factory=dict)
    written: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.dataset not in known_datasets():
            near = ", ".join(get_close_matches(self.dataset, known_datasets(), n=3))
            hint = f"near are {near}" if near else f"{REASONING_GYM_FOLDER / NAMES} lists them"
            raise BadFolder(f"{self.dataset!r} is no name of a data set of reasoning-gym {pinned_version()}; {hint}.")

    @classmethod
    def of_folder(cls, about: Mapping[str, Any], path: Path) -> "GymRecipe":
        """Raises: BadFolder."""
        for key in ("id", "reasoning_gym"):
            if not about.get(key):
                raise BadFolder(f"{path} lacks the key {key!r}; a folder without evaluator.py needs it.")
        config = about.get("config") or {}
        if not isinstance(config, dict) or {"size", "seed"} & config.keys():
            raise BadFolder(f"{path}: config must be a mapping of the data set's settings, without size and seed.")
        sizes = {
            key: whole_number(about, key, default, path) or default
            for key, default in (("held_out", HELD_OUT), ("visible", VISIBLE), ("max_tokens", MAX_TOKENS))
        }
        return cls(str(about["id"]), str(about["reasoning_gym"]), **sizes, config=config, written=about)

    @property
    def protocol(self) -> str:
        decisive = [VERSION, pinned_version(), self.dataset, self.held_out, self.visible, self.max_tokens, self.config]
        digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:8]
        return f"{self.task_id}/{digest}"

    @property
    def about(self) -> Mapping[str, Any]:
        summary = f"Problems of reasoning-gym's data set {self.dataset}, generated and scored by its own rules."
        text = (REASONING_GYM_FOLDER / "description.md").read_text(encoding="utf-8")
        return {
            "title": f"reasoning-gym: {self.dataset}",
            "level": "L1",
            "summary": summary,
            "metric": "Mean score",
            "horizon": 1,
            "licence": "Apache-2.0",
            "source": f"reasoning-gym {pinned_version()}",
            **self.written,
            "id": self.task_id,
            "protocol": self.protocol,
            "eval_size": self.held_out,
            "description": text.format(
                dataset=self.dataset, held_out=self.held_out, visible=self.visible, max_tokens=self.max_tokens
            ),
        }

    def prepare(self, target: DataTarget) -> None:
        """Raises: DataUnavailable: reasoning-gym is not installed, or the data set has too few problems."""
        from benchmark.tasks.reasoning_gym.problems import prepare

        prepare(self, target)

    def evaluator(self) -> Evaluator:
        from benchmark.tasks.reasoning_gym.gym_evaluator import GymEvaluator

        return GymEvaluator(self)
