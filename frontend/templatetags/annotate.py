"""Filters of the annotation pages."""

from django import template

from frontend.formats import DASH

register = template.Library()


@register.filter
def coefficient(value: float | None) -> str:
    """Two decimals with a true minus, or a dash."""
    return DASH if value is None else f"{value:.2f}".replace("-", "−")


@register.filter
def share(value: float | None) -> str:
    """Whole per cent, or a dash."""
    return DASH if value is None else f"{value:.0%}"
