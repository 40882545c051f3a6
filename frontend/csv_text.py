"""CSV that a spreadsheet reads as data: unscored is an empty field, and text is never run as a formula."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """One line a row, `None` as an empty field."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
