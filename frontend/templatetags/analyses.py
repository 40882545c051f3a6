"""For templates of analyses."""

from collections.abc import Sequence

from django import template

from frontend.analyses import Cell, Column, Table

register = template.Library()


@register.filter
def with_columns(row: Sequence[Cell], table: Table) -> list[tuple[Cell, Column]]:
    """A row's cells with their columns."""
    return list(zip(row, table.columns, strict=False))
