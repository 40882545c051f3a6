"""The leaderboard as LaTeX tables, one for each group of a panel."""

from collections.abc import Sequence

from frontend.board import Group, Panel
from frontend.formats import gain, score
from frontend.latex import latex_table


def board_latex(panels: Sequence[Panel]) -> str:
    """Score and gain in each cell, the best starred, ≈ where a gain is within the standard error."""
    return "\n".join(_table(panel, group) for panel in panels for group in panel.groups)


def _table(panel: Panel, group: Group) -> str:
    head = ["Rank", "Agent stack", "Mode", *(column.title for column in group.columns), "Mean gain"]
    baseline = ["", "Base model as given", "", *(score(cell.score) for cell in group.baselines), ""]
    rows = [baseline]
    for row in group.rows:
        cells = [
            f"{'★ ' if cell.best else ''}{score(cell.score)} {gain(cell.gain)}{' ≈' if cell.approx else ''}".strip()
            for cell in row.cells
        ]
        band = str(row.band) if row.band else ""
        rows.append([band, f"{row.stack.title} {row.stack.driver}", row.stack.mode_label, *cells, gain(row.mean_gain)])
    kind = "published in a paper" if group.kind == "published" else "graded by this platform or uploaded"
    caption = f"{panel.base_model}: {kind}; protocol {', '.join(group.protocol_names)}."
    numbers = [False, False, False, *(True for _ in group.columns), True]
    return latex_table(head, rows, caption=caption, numbers=numbers)
