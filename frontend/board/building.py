"""Makes panels of parts: columns, groups that may be compared, rows with their rank bands."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache

from benchmark.services.protocols import protocol_is_ranked
from frontend.board.filters import Filters
from frontend.board.grouping import column_of, columns_of, counted_of, digests_of, groups_of, short
from frontend.board.known_tasks import known_tasks, task_place
from frontend.board.notes import noted
from frontend.board.parts import Kind, Part, Stack, joined
from frontend.board.picking import picks_of
from frontend.board.rows import Cell, Column, Group, Panel, Row, Unranked, cell_of
from frontend.board.sorting import rows_sorted
from frontend.published import designs
from frontend.ranking import bands

CELLS_KEPT = 2048
"""A cell is made again only where its part has changed."""


def panels_of(parts: Sequence[Part], filters: Filters) -> list[Panel]:
    """Those with one of the six tasks first; among them the one with the newest run of ours."""
    digests = digests_of(parts)
    grouped: dict[tuple[str, str], list[Part]] = defaultdict(list)
    for part in parts:
        name = short(part.base_model)
        digest = part.digest or (digests[name][-1] if digests[name] else "")
        if part.kind == "published" and len(digests[name]) > 1:
            digest = ""
        grouped[name, digest].append(part)
    names = [name for name, _ in grouped]

    def place(item: tuple[tuple[str, str], list[Part]]) -> tuple[bool, int, str]:
        (name, _), members = item
        newest = max((part.last_run for part in members if part.kind == "here"), default=0)
        return not any(part.task in designs() for part in members), -newest, name

    ordered = sorted(grouped.items(), key=place)
    return [
        _panel(members, digest[:8] if names.count(name) > 1 else "", filters) for (name, digest), members in ordered
    ]


def _panel(members: Sequence[Part], digest: str, filters: Filters) -> Panel:
    whole = [part for part in members if protocol_is_ranked(part.protocol)]
    limited = [part for part in members if not protocol_is_ranked(part.protocol)]
    columns = columns_of({part.task for part in whole}, filters)
    groups: list[Group] = []
    for kind, own in groups_of(whole):
        before = sum(len(group.notes) for group in groups)
        groups.append(noted(_group(kind, own, columns, filters), before))
    name = max((part.base_model for part in members), key=len)
    return Panel(name, digest, columns, tuple(groups), tuple(_unranked(limited)))


def _group(kind: Kind, parts: Sequence[Part], columns: tuple[Column, ...], filters: Filters) -> Group:
    by_task = {task: [part for part in parts if part.task == task] for task in {part.task for part in parts}}
    protocols = tuple(by_task[c.task][0].protocol if c.task in by_task else "" for c in columns)
    baselines = tuple(_baseline(c.task, by_task.get(c.task, [])) for c in columns)
    counted = counted_of(columns)
    rows = []
    for stack, own in _by_stack(parts).items():
        cells = tuple(_cell(c.task, own.get(c.task), p) for c, p in zip(columns, protocols, strict=True))
        origins = sorted({origin for part in own.values() for origin in part.origins})
        trusts = sorted({trust for part in own.values() for trust in part.trusts})
        rows.append(Row(stack, cells, counted, tuple(origins), tuple(trusts)))
    ranked = _starred(_ranked(rows))
    return Group(
        kind=kind,
        columns=columns,
        protocols=protocols,
        baselines=baselines,
        rows=tuple(rows_sorted(ranked, columns, filters.sort)),
        picks=tuple(picks_of(ranked)) if not filters.sort else (),
    )


def _by_stack(parts: Iterable[Part]) -> dict[Stack, dict[str, Part]]:
    stacks: dict[Stack, dict[str, Part]] = defaultdict(dict)
    for part in parts:
        known = stacks[part.stack].get(part.task)
        stacks[part.stack][part.task] = joined(known, part) if known else part
    return stacks


def _baseline(task: str, parts: Sequence[Part]) -> Cell:
    """The base model's own score, as the newest run that has one knows it."""
    known = [part for part in parts if part.baseline is not None]
    if not known:
        return Cell(task, parts[0].protocol if parts else "", reason="not scored" if parts else "not run")
    newest = max(known, key=lambda part: part.last_run)
    return cell_of(task, newest.protocol, [newest.baseline or 0.0], [newest.baseline_error])


@lru_cache(maxsize=CELLS_KEPT)
def _cell(task: str, part: Part | None, protocol: str) -> Cell:
    if part is None:
        return Cell(task, protocol, reason="not run")
    return cell_of(
        task,
        part.protocol,
        part.values,
        part.errors,
        runs=part.runs,
        baseline=part.baseline,
        baseline_error=part.baseline_error,
        slug=part.slug if part.runs == 1 else "",
        part=part,
        reason="" if part.values else part.reason,
        flags=part.flags,
    )


def _ranked(rows: Sequence[Row]) -> list[Row]:
    found = bands([row.mean for row in rows], [row.noise for row in rows])
    return [replace(row, band=band) for row, band in zip(rows, found, strict=True)]


def _starred(rows: Sequence[Row]) -> list[Row]:
    """The best of each column, ties alike."""
    tops = []
    for column in zip(*(row.cells for row in rows), strict=True):
        scores = [round(cell.score, 9) for cell in column if cell.score is not None]
        tops.append(max(scores) if scores else None)
    return [replace(row, cells=tuple(map(_star, row.cells, tops))) for row in rows]


def _star(cell: Cell, top: float | None) -> Cell:
    best = cell.score is not None and round(cell.score, 9) == top
    return replace(cell, best=True) if best else cell


def _unranked(parts: Sequence[Part]) -> list[Unranked]:
    ordered = sorted(parts, key=lambda part: (task_place(part.task), part.protocol, part.stack))
    return [
        Unranked(
            column_of(part.task),
            part.stack,
            _cell(part.task, part, part.protocol),
        )
        for part in ordered
    ]


def sort_keys() -> list[str]:
    """What a board can be sorted by, without the sign."""
    return ["mean", "agent", "driver", "mode", "runs", *known_tasks()]
