"""A board as plain rows, one for each cell: what CSV, JSON and the API agree on."""

from collections.abc import Iterator, Sequence
from typing import Any

from frontend.board.parts import Stack
from frontend.board.rows import Cell, Group, Panel, Row

FIELDS = (
    "base_model", "base_digest", "group", "task", "protocol", "ranked", "agent", "agent_title", "driver", "mode",
    "budget_s", "table", "origin", "trust", "rank_low", "rank_high", "mean_gain", "runs", "scored", "score", "gain",
    "within_noise", "best_in_column", "highest", "decoding_error", "run_deviation", "interval_low", "interval_high",
    "baseline", "baseline_error", "run", "reason", "flags",
)  # fmt: skip


def board_rows(panels: Sequence[Panel]) -> Iterator[dict[str, Any]]:
    """Cells that have runs, in the board's order. Scores in points; None: not scored, or not known."""
    for panel in panels:
        for group in panel.groups:
            for row in group.rows:
                facts = _panel(panel) | {"group": group.kind, "ranked": True} | _row(row)
                yield from (facts | _cell(cell) for cell in row.cells if cell.runs)
        for item in panel.unranked:
            facts = _panel(panel) | {"group": "limited", "ranked": False} | _stack(item.stack)
            yield facts | _cell(item.cell)


def baseline_rows(group: Group) -> list[dict[str, Any]]:
    """The base model's own scores of one group."""
    return [
        {"task": cell.task, "protocol": cell.protocol, "score": cell.score, "standard_error": cell.error}
        for cell in group.baselines
        if cell.score is not None
    ]


def _panel(panel: Panel) -> dict[str, Any]:
    return dict.fromkeys(FIELDS) | {"base_model": panel.base_model, "base_digest": panel.digest}


def _stack(stack: Stack) -> dict[str, Any]:
    return {
        "agent": stack.agent,
        "agent_title": stack.title,
        "driver": stack.driver,
        "mode": stack.mode,
        "budget_s": stack.budget_s,
        "table": stack.table,
    }


def _row(row: Row) -> dict[str, Any]:
    return _stack(row.stack) | {
        "origin": "+".join(row.origins),
        "trust": "+".join(trust for trust in row.trusts if trust),
        "rank_low": row.band.low if row.band else None,
        "rank_high": row.band.high if row.band else None,
        "mean_gain": row.mean_gain,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    interval = cell.interval
    return {
        "task": cell.task,
        "protocol": cell.protocol,
        "runs": cell.runs,
        "scored": len(cell.values),
        "score": cell.score,
        "gain": cell.gain,
        "within_noise": cell.approx if cell.gain is not None else None,
        "best_in_column": cell.best,
        "highest": cell.highest,
        "decoding_error": cell.error,
        "run_deviation": cell.deviation,
        "interval_low": interval.low if interval else None,
        "interval_high": interval.high if interval else None,
        "baseline": cell.baseline,
        "baseline_error": cell.baseline_error,
        "run": cell.slug,
        "reason": cell.reason,
        "flags": "; ".join(f"{flag.slug} raw {flag.raw} final {flag.final}: {flag.reason}" for flag in cell.flags),
    }
