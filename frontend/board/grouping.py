"""Which parts stand in one panel, in which columns, and which may be compared."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from frontend.board.filters import Filters
from frontend.board.known_tasks import is_known, level_of, task_metric, task_place, task_title
from frontend.board.parts import Kind, Part
from frontend.board.rows import Column
from frontend.published import designs


def short(base_model: str) -> str:
    """A base model's name without its owner: papers leave it out."""
    return base_model.rsplit("/", 1)[-1]


def digests_of(parts: Iterable[Part]) -> dict[str, list[str]]:
    """The digests that a base model's short name stands for, the one of the newest run last."""
    newest: dict[str, dict[str, int]] = defaultdict(dict)
    for part in parts:
        if part.digest:
            found = newest[short(part.base_model)]
            found[part.digest] = max(part.last_run, found.get(part.digest, 0))
    return defaultdict(list, {name: sorted(found, key=lambda d: found[d]) for name, found in newest.items()})


def columns_of(found: set[str], filters: Filters) -> tuple[Column, ...]:
    """All six tasks of the benchmark as soon as one of them was run, and whatever else was."""
    six = set(designs()) if found & set(designs()) else set()
    shown = sorted((task for task in found | six if filters.shows_task(task)), key=task_place)
    return tuple(map(column_of, shown))


def column_of(task: str) -> Column:
    return Column(task, task_title(task), level_of(task), task_metric(task), is_known(task))


def groups_of(parts: Sequence[Part]) -> list[tuple[Kind, list[Part]]]:
    """Published rows apart from ours; ours by protocol: a task's newest protocol first, older ones in later groups."""
    newest: dict[tuple[Kind, str], dict[str, int]] = defaultdict(dict)
    for part in parts:
        seen = newest[part.kind, part.task]
        seen[part.protocol] = max(part.last_run, seen.get(part.protocol, 0))
    place = {
        (kind, task, protocol): number
        for (kind, task), seen in newest.items()
        for number, protocol in enumerate(sorted(seen, key=lambda protocol: -seen[protocol]))
    }
    grouped: dict[tuple[Kind, int], list[Part]] = defaultdict(list)
    for part in parts:
        grouped[part.kind, place[part.kind, part.task, part.protocol]].append(part)
    return [(kind, own) for (kind, _), own in sorted(grouped.items())]


def counted_of(columns: Sequence[Column]) -> tuple[bool, ...]:
    """The mean is over the six where they are shown, else over all columns."""
    six = set(designs())
    if not any(column.task in six for column in columns):
        return (True,) * len(columns)
    return tuple(column.task in six for column in columns)
