"""The leaderboard's parts, for templates."""

from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from frontend.board import Filters, Group, Panel, Row
from frontend.board.known_tasks import LEVEL_WORDS, is_known, task_title
from frontend.board.parameters import HIDEABLE, budget_words
from frontend.board_html import cell_html
from frontend.leaderboard import Sort

register = template.Library()
TRUST_WORDS = {"": ("regraded", "graded here"), "regraded": ("regraded", "re-graded")}
"""The class and the word, where they differ from the trust itself."""


@register.simple_tag
def board_cells(row: Row, group: Group, cols: str) -> SafeString:
    """All cells of a row."""
    columns = zip(row.cells, group.columns, strict=True)
    return format_html_join("", "{}", ((cell_html(cell, column, cols or "both"),) for cell, column in columns))


@register.simple_tag
def board_origin(row: Row) -> SafeString:
    """Where a row's runs were made, and how far their numbers can be trusted."""
    if row.stack.table:
        return format_html('<a class="badge" href="#sources">published, table {}</a>', row.stack.table)
    badges = [("local", "local")] * ("local" in row.origins) + [("bundle", "bundle")] * ("external" in row.origins)
    told = format_html_join(" ", '<span class="badge">{}</span>', ((word,) for word, _ in badges))
    trusts = [trust or "regraded" for trust in row.trusts]
    words = [
        (trust, "graded here" if not own else TRUST_WORDS.get(own, own))
        for trust, own in zip(trusts, row.trusts, strict=True)
    ]
    return format_html("{} {}", told, format_html_join(" ", '<span class="trust {}">{}</span>', words))


register.filter("task_title", task_title)
register.filter("is_known", is_known)
register.filter("budget", budget_words)


@register.filter
def level_words(level: str) -> str:
    return LEVEL_WORDS.get(level, "")


@register.filter
def width(panel: Panel, filters: Filters) -> int:
    """How many columns the panel's table has."""
    shown = [name for name in HIDEABLE if name not in filters.hide]
    return 2 + len(panel.columns) + len(shown) - ("mean" in shown and len(panel.columns) < 2)


@register.filter
def of(mapping: dict[str, Any], key: str) -> Any:
    """A mapping's value, None where there is none."""
    return mapping.get(key)


@register.simple_tag
def sort_head(sort: Sort | None, title: str) -> SafeString:
    """A column's head as a link."""
    return format_html('<a href="?{}">{}</a>', sort.query, title) if sort else format_html("{}", title)
