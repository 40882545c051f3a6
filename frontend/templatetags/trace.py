"""Filters of the trace explorer's templates."""

from django import template

register = template.Library()


@register.filter
def thousands(value: int | None) -> str:
    """`4,812`."""
    return "" if value is None else f"{value:,}"
