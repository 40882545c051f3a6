"""A task's `evaluator.py`: loading it, and checking what it returns. Whatever is wrong with it is ours."""

import importlib.util
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import cast

from benchmark.tasks.contract import Evaluator, Item, Metrics, Record
from benchmark.tasks.folder_task import is_described, recipe_of
from benchmark.tasks.held_out import held_out_digest
from grading.contract import RunnerSpec
from grading.runner.faults import InfraFault, first_line

PACKAGE = "agent2_task"


def load_evaluator(task_dir: Path, protocol: str) -> Evaluator:
    """The evaluator defined in `task_dir/evaluator.py`; the folder is a package to it, so it may import its siblings.

    What follows a `;` in the protocol, such as the judge's name, is not the task folder's to know.

    A folder without one describes its task (benchmark/tasks/folder_task.py).

    Raises: InfraFault: I_EVALUATOR when it cannot be loaded, I_PROTOCOL when its protocol is not `protocol`.
    """
    protocol = protocol.partition(";")[0]
    try:
        if is_described(task_dir):
            evaluator = recipe_of(task_dir, protocol.rpartition("/")[0]).evaluator()
        else:
            evaluator = cast(Evaluator, _load_module(task_dir).evaluator())
        found = evaluator.protocol
    except Exception as error:
        raise InfraFault("I_EVALUATOR", f"the task's evaluator does not load: {first_line(error)}") from error
    if found != protocol:
        raise InfraFault("I_PROTOCOL", f"the spec asks for {protocol}; the task folder implements {found}")
    return evaluator


def checked_items(evaluator: Evaluator, spec: RunnerSpec) -> list[Item]:
    """The first `limit` items, all where it is None.

    Raises: InfraFault: I_EVALUATOR; I_HELD_OUT, they are not those that were prepared, or not as many as declared.
    """
    folder = Path(spec.held_out)
    if spec.held_out_sha256 and held_out_digest(folder) != spec.held_out_sha256:
        raise InfraFault(
            "I_HELD_OUT",
            "the held-out files are not those that were prepared; remove the task's folder below the data folder's "
            "tasks/, and they are made anew",
        )
    try:
        items = list(evaluator.items(folder))
    except Exception as error:
        raise InfraFault("I_EVALUATOR", f"the held-out items cannot be read: {first_line(error)}") from error
    if not items or len({item.id for item in items}) != len(items):
        raise InfraFault("I_EVALUATOR", "the held-out items are none, or two share an id")
    if spec.held_out_items and len(items) != spec.held_out_items:
        raise InfraFault(
            "I_HELD_OUT", f"there are {len(items)} held-out items; the task declares {spec.held_out_items}"
        )
    return items[: spec.limit]


def checked_metrics(evaluator: Evaluator, records: Sequence[Record], n_expected: int) -> Metrics:
    """The score of a complete set of records.

    Raises: InfraFault: I_INCOMPLETE, fewer samples than the protocol names; I_EVALUATOR, no possible score.
    """
    if len(records) != n_expected:
        raise InfraFault("I_INCOMPLETE", f"{len(records)} of {n_expected} samples were scored")
    try:
        metrics = evaluator.metrics(records)
    except Exception as error:
        raise InfraFault("I_EVALUATOR", f"the metrics cannot be computed: {first_line(error)}") from error
    if not math.isfinite(metrics.score) or not 0 <= metrics.score <= 100:
        raise InfraFault("I_EVALUATOR", f"the evaluator's score {metrics.score} is not within 0 and 100")
    for name, value in metrics.extra.items():
        if value is not None and not math.isfinite(value):
            raise InfraFault("I_EVALUATOR", f"the evaluator's {name} is not finite")
    return metrics


def _load_module(task_dir: Path) -> ModuleType:
    package = ModuleType(PACKAGE)
    package.__path__ = [str(task_dir)]
    sys.modules[PACKAGE] = package
    name = f"{PACKAGE}.evaluator"
    found = importlib.util.spec_from_file_location(name, task_dir / "evaluator.py")
    if found is None or found.loader is None:
        raise ImportError(f"{task_dir / 'evaluator.py'} cannot be imported")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module
