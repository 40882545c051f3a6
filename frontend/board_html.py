"""A leaderboard's cell as markup. Written here, not in a template: a page has hundreds.

Whatever a person or an agent can have written goes through `escape`; numbers and class names are ours.
"""

from functools import cache, lru_cache

from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString

from frontend.board import Cell, Column
from frontend.formats import gain, heat, plural, score

STAR = '<span class="vh"> best in its column</span>'
CELLS_KEPT = 2048
APPROX = '<span class="approx">≈<span class="vh"> within the standard error</span></span>'


@lru_cache(maxsize=CELLS_KEPT)
def cell_html(cell: Cell, column: Column, cols: str) -> SafeString:
    """A `td`. `cols`: `both`, `score` or `gain`."""
    title = escape(column.title)
    if cell.score is None:
        return SafeString(f'<td class="c none num" data-t="{title}">{_linked(cell, _unscored(cell))}</td>')
    colour = heat(cell.gain, cell.noise)
    shade = f' data-heat="{colour}"' if colour else ""
    best = " best" if cell.best else ""
    return SafeString(f'<td class="c num{best}" data-t="{title}"{shade}>{_linked(cell, _numbers(cell, cols))}</td>')


def _numbers(cell: Cell, cols: str) -> str:
    raw = f'<span class="ci">raw <s>{score(cell.flags[0].raw)}</s></span>' if cell.runs == 1 and cell.flags else ""
    main = (gain(cell.gain) or "—") if cols == "gain" else score(cell.score)
    star = STAR if cell.best else ""
    difference = f'<span class="d">{gain(cell.gain)}</span>' if cols == "both" else ""
    return f"<b>{main}</b>{star}{difference}{APPROX if cell.approx else ''}{raw}{_several(cell, cols)}"


def _several(cell: Cell, cols: str) -> str:
    """What several runs add: of how many the score is the mean, and the interval."""
    if cell.runs < 2:
        return ""
    scored = len(cell.values)
    told = f"{scored} runs" if scored == cell.runs else f"{scored} of {plural(cell.runs, 'run')}"
    if interval := cell.interval:
        if cols == "gain" and cell.baseline is not None:
            told += f", {gain(interval.low - cell.baseline)} to {gain(interval.high - cell.baseline)}"
        else:
            told += f", {interval.low:.1f}–{interval.high:.1f}"
    return f'<span class="ci">{told}</span>'


def _unscored(cell: Cell) -> str:
    raw = cell.flags[0].raw if cell.flags else None
    told = f"<s>{score(raw)}</s>" if raw is not None else "—"
    return f'{told}<span class="why">{escape(cell.reason)}</span>'


def _linked(cell: Cell, inner: str) -> str:
    if cell.slug:
        return f'<a href="{_runs()}{escape(cell.slug)}/">{inner}</a>'
    if cell.part:
        return f'<a href="{_runs()}?{escape(cell.query)}">{inner}</a>'
    return f"<span>{inner}</span>"


@cache
def _runs() -> str:
    return reverse("run-list")
