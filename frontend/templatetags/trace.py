"""Filters of the trace explorer's templates."""

from django import template

from frontend.trace_text import harmless as harmless_text

register = template.Library()


@register.filter
def thousands(value: int | None) -> str:
    """`4,812`."""
    return "" if value is None else f"{value:,}"


@register.filter
def harmless(value: object) -> str:
    """Terminal controls dropped, tricks named; the template escapes it."""
    return harmless_text(str(value))
