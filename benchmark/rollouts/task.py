"""The task of this workspace: its evaluator, its training items, and the services it needs."""

import importlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from benchmark.tasks.contract import Item, TrainEvaluator
from benchmark.tasks.services_contract import Services

from .playing import Generate, Trajectory, play_episodes
from .services import GatewayServices

ABOUT = Path(__file__).with_name("task.json")
OFFERED, GATEWAY = "ROLLOUT_SERVICES", "GATEWAY_URL"


class NoServices(Exception):
    """The task asks a search or a judge that this workspace cannot reach; the message says what to do."""


@dataclass(frozen=True)
class Rollouts:
    """One task's evaluator over its training items."""

    evaluator: TrainEvaluator
    items: Sequence[Item]
    needs: Sequence[str] = ()

    def play(
        self,
        generate: Generate,
        chosen: Iterable[Item] | None = None,
        *,
        at_a_time: int = 32,
        services: Services | None = None,
    ) -> Iterator[Trajectory]:
        """Play `chosen`, or all items. Raises: NoServices; ValueError: `at_a_time` is below 1."""
        if at_a_time < 1:
            raise ValueError("at_a_time must be at least 1")
        if self.needs:
            connect = self.evaluator.connect  # type: ignore[attr-defined]
            connect(services or self._gateway())
        return play_episodes(self.evaluator, self.items if chosen is None else chosen, generate, at_a_time=at_a_time)

    def _gateway(self) -> Services:
        offered = set(filter(None, os.environ.get(OFFERED, "").split(",")))
        if missing := sorted(set(self.needs) - offered):
            raise NoServices(
                f"This task's episodes ask a {' and a '.join(missing)}, which this deployment offers to no agent. "
                "Give your own: play(..., services=...) with methods search(query, *, count) and "
                "chat(request, *, fresh=False), as lib/benchmark/tasks/services_contract.py describes them."
            )
        return GatewayServices(os.environ[GATEWAY])


def open_rollouts(data: str | Path | None = None) -> Rollouts:
    """The workspace's task over the folder `data`, `$DATA_PATH` where it is None."""
    about = json.loads(ABOUT.read_text(encoding="utf-8"))
    module = importlib.import_module(about["module"])
    evaluator = cast(TrainEvaluator, module.evaluator())
    folder = Path(data or os.environ.get("DATA_PATH", "data"))
    return Rollouts(evaluator, evaluator.train_items(folder), about["needs"])


@cache
def _here() -> Rollouts:
    return open_rollouts()


def items() -> Sequence[Item]:
    """The task's training items, always in the same order."""
    return _here().items


def play(
    generate: Generate,
    chosen: Iterable[Item] | None = None,
    *,
    at_a_time: int = 32,
    services: Services | None = None,
) -> Iterator[Trajectory]:
    """Trajectories of the training items, each as it ends. See `Rollouts.play`."""
    return _here().play(generate, chosen, at_a_time=at_a_time, services=services)
