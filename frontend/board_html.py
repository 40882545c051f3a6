"""A leaderboard's cell as markup. Written here, not in a template: a page has hundreds."""

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from frontend.board import Cell, Column
from frontend.formats import gain, heat, plural, score

EMPTY = SafeString("")
STAR = mark_safe('<span class="vh"> best in its column</span>')
APPROX = mark_safe('<span class="approx">≈<span class="vh"> within the standard error</span></span>')


def cell_html(cell: Cell, column: Column, cols: str) -> SafeString:
    """A `td`. `cols`: `both`, `score` or `gain`."""
    if cell.score is None:
        return _unscored(cell, column)
    colour = heat(cell.gain, cell.noise)
    inner = _numbers(cell, cols)
    return format_html(
        '<td class="c num{}" data-t="{}"{}>{}</td>',
        " best" if cell.best else "",
        column.title,
        format_html(' data-heat="{}"', colour) if colour else EMPTY,
        _linked(cell, inner),
    )


def _numbers(cell: Cell, cols: str) -> SafeString:
    raw = format_html("<s>{}</s> ", score(cell.flags[0].raw)) if cell.runs == 1 and cell.flags else EMPTY
    main = gain(cell.gain) or "—" if cols == "gain" else score(cell.score)
    return format_html(
        "{}<b>{}</b>{}{}{}{}",
        raw,
        main,
        STAR if cell.best else EMPTY,
        format_html('<span class="d">{}</span>', gain(cell.gain)) if cols == "both" else EMPTY,
        APPROX if cell.approx else EMPTY,
        _several(cell),
    )


def _several(cell: Cell) -> SafeString:
    """What several runs add: of how many the score is the mean, and the interval."""
    if cell.runs < 2:
        return EMPTY
    scored = len(cell.values)
    told = f"mean of {scored}" if scored == cell.runs else f"{scored} of {plural(cell.runs, 'run')} scored"
    if cell.interval:
        told += f", {cell.interval.low:.1f} to {cell.interval.high:.1f}"
    return format_html('<span class="ci">{}</span>', told)


def _unscored(cell: Cell, column: Column) -> SafeString:
    raw = cell.flags[0].raw if cell.flags else None
    inner = format_html(
        '{}<span class="why">{}</span>', format_html("<s>{}</s>", score(raw)) if raw is not None else "—", cell.reason
    )
    return format_html('<td class="c none num" data-t="{}">{}</td>', column.title, _linked(cell, inner))


def _linked(cell: Cell, inner: SafeString) -> SafeString:
    if not cell.slug and not cell.query:
        return format_html("<span>{}</span>", inner)
    if cell.slug:
        return format_html('<a href="{}{}/">{}</a>', reverse("run-list"), cell.slug, inner)
    return format_html('<a href="{}?{}">{}</a>', reverse("run-list"), cell.query, inner)
