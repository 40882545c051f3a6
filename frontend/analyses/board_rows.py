"""Cells of the leaderboard as cells of an analysis, so that both always say the same."""

from django.urls import reverse

from frontend.analyses.contract import Cell
from frontend.board import Cell as BoardCell
from frontend.board import Row
from frontend.figures.heatmap import Spot
from frontend.formats import DASH, gain, heat, score


def gain_cell(cell: BoardCell, mark: str = "") -> Cell:
    """The gain over the score; without a score the reason. It opens its run, or the list of them."""
    if cell.score is None:
        return Cell(None, DASH, cell.reason or "not run", link=_link(cell))
    told = gain(cell.gain) or DASH
    colour = heat(cell.gain, cell.noise)
    runs = f", mean of {len(cell.values)}" if len(cell.values) > 1 else ""
    number = None if cell.gain is None else round(cell.gain, 4)
    return Cell(number, told, f"{score(cell.score)}{runs}", _link(cell), colour, mark, cell.approx)


def _link(cell: BoardCell) -> str:
    if cell.slug:
        return reverse("run", args=[cell.slug])
    return f"{reverse('run-list')}?{cell.query}" if cell.query and cell.runs else ""


def spot(cell: BoardCell, mark: str = "") -> Spot:
    if cell.score is None:
        return Spot(None, DASH, f"{cell.task}: not scored")
    sign = {"star": " ★", "worst": " ▼"}.get(mark, "")
    told = f"{gain(cell.gain) or DASH}{' ≈' if cell.approx else ''}"
    return Spot(int(heat(cell.gain, cell.noise) or 0), told + sign, f"{cell.task}: {score(cell.score)}, {told}")


def row_title(row: Row) -> str:
    """Agent, driver, mode, and the paper's table."""
    stack = row.stack
    driver = "" if stack.driver in ("", "none") else f", {stack.driver}"
    return f"{stack.title}{driver}, {stack.mode_label}" + (f" (table {stack.table})" if stack.table else "")


def marks(cells: list[BoardCell]) -> list[str]:
    """`star` for the best of a column, ties share it; `worst` for the lowest, none when all are equal."""
    scores = [None if cell.score is None else round(cell.score, 9) for cell in cells]
    known = [value for value in scores if value is not None]
    if len(known) < 2:
        return [""] * len(cells)
    high, low = max(known), min(known)
    return ["" if v is None else "star" if v == high else "worst" if v == low < high else "" for v in scores]
