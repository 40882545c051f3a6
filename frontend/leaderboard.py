"""The leaderboard: best score and improvement of each agent stack on each protocol, one panel per base model."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from benchmark.catalogue import Task, tasks
from benchmark.models import RunState
from benchmark.services.protocols import protocol_is_ranked
from frontend.leaderboard_rows import Cell, Column, Panel, Row, Stack, Unranked
from frontend.ranking import rankable, ranks
from frontend.scores import Result, results


def leaderboard() -> list[Panel]:
    """Every panel, the one with the newest run first."""
    grouped: dict[tuple[str, str], list[Result]] = defaultdict(list)
    found = list(results())
    digest_of = {result.run.base_model: result.run.base_digest for result in found if result.run.base_digest}
    for result in found:
        digest = result.run.base_digest or digest_of.get(result.run.base_model, "")
        grouped[result.run.base_model, digest].append(result)
    names = [name for name, _ in grouped]
    return [
        _panel(name, digest[:8] if names.count(name) > 1 else "", members)
        for (name, digest), members in sorted(grouped.items(), key=lambda item: -item[1][-1].run.pk)
    ]


def _panel(name: str, digest: str, members: Sequence[Result]) -> Panel:
    whole = [result for result in members if protocol_is_ranked(result.run.protocol)]
    columns = _columns(whole)
    rows = [
        Row(stack, tuple(_cell([r for r in own if r.run.protocol == column.protocol]) for column in columns))
        for stack, own in _by_stack(whole).items()
    ]
    return Panel(name, digest, columns, tuple(_ranked(rows)), tuple(_unranked(members)))


def _unranked(members: Sequence[Result]) -> list[Unranked]:
    parts = [result for result in members if not protocol_is_ranked(result.run.protocol)]
    return [
        Unranked(column, stack, _cell(own))
        for column in _columns(parts)
        for stack, own in sorted(_by_stack(r for r in parts if r.run.protocol == column.protocol).items())
    ]


def _by_stack(members: Iterable[Result]) -> dict[Stack, list[Result]]:
    stacks: dict[Stack, list[Result]] = defaultdict(list)
    for result in members:
        stacks[Stack(result.run.agent, result.run.driver, result.run.mode)].append(result)
    return stacks


def _columns(members: Sequence[Result]) -> tuple[Column, ...]:
    """Protocols in the order of level and name; the baseline is the newest that was scored."""
    found: dict[str, Column] = {}
    for result in members:
        run, task = result.run, tasks().get(result.run.task)
        known = found.get(run.protocol)
        keep = known is not None and result.baseline is None
        found[run.protocol] = Column(
            protocol=run.protocol,
            task=run.task,
            title=_title(task, run.task),
            level=task.level if task else "",
            baseline=known.baseline if keep and known else result.baseline,
            baseline_error=known.baseline_error if keep and known else result.baseline_error,
        )
    return tuple(sorted(found.values(), key=lambda column: (column.level, column.title, column.protocol)))


def _title(task: Task | None, task_id: str) -> str:
    return task.title if task else task_id


def _cell(own: Sequence[Result]) -> Cell:
    """The best of the stack's runs; of equal ones the earlier."""
    if not own:
        return Cell(runs=0, reason="not run")
    scored = [result for result in own if rankable(result.score)]
    if not scored:
        return Cell(runs=len(own), run=own[-1].run, reason=_reason(own[-1]))
    best = max(scored, key=lambda result: (result.score or 0.0, -result.reached.timestamp() if result.reached else 0.0))
    return Cell(
        runs=len(own),
        run=best.run,
        score=best.score,
        standard_error=best.standard_error,
        baseline=best.baseline,
        reached_at=best.reached,
    )


def _reason(result: Result) -> str:
    """Why the newest run has no score: how it stands, or how its newest submission ended."""
    run = result.run
    if run.terminal and result.last_state:
        return result.last_state
    if run.state == RunState.FINISHED:
        return "no submission"
    return str(run.get_state_display()).lower()


def _ranked(rows: Sequence[Row]) -> list[Row]:
    """Rows with their rank by mean score, and each column's cells with theirs."""
    by_column = [ranks([cell.score for cell in column]) for column in zip(*(row.cells for row in rows), strict=True)]
    placed = []
    for index, (row, rank) in enumerate(zip(rows, ranks([row.mean for row in rows]), strict=True)):
        cells = [replace(cell, rank=column[index]) for cell, column in zip(row.cells, by_column, strict=True)]
        placed.append(Row(row.stack, tuple(cells), rank))
    return sorted(placed, key=lambda row: (row.rank or len(placed) + 1, -row.scored, row.reached_at, row.stack))
