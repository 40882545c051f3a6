"""A run's submissions as CSV, the oldest first."""

import csv
from collections.abc import Iterable
from io import StringIO

from frontend.run_page import RunPage

COLUMNS = [
    "number",
    "received_at",
    "elapsed_s",
    "state",
    "score",
    "standard_error",
    "baseline",
    "improvement",
    "best_so_far",
    "new_best",
    "code",
    "message",
    "fix",
    "model_path",
    "seconds",
    "tokens",
    "same_as",
    "digest",
]
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def submissions_csv(page: RunPage) -> str:
    """One line a submission; unscored is an empty field, never 0. Text that a spreadsheet would run is quoted."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(_rows(page))
    return out.getvalue()


def _rows(page: RunPage) -> Iterable[list[object]]:
    for point in page.points:
        row, verdict = point.submission, point.submission.verdict
        yield [
            row.number,
            row.received_at.isoformat(),
            round(row.elapsed_s, 3),
            row.state,
            _value(point.score),
            _value(verdict.standard_error if verdict and point.score is not None else None),
            _value(page.baseline),
            _value(page.gain(point.score)),
            _value(point.best),
            int(point.new_best),
            _text(verdict.code if verdict else ""),
            _text(verdict.message if verdict else ""),
            _text(verdict.fix if verdict else ""),
            _text(row.model_path),
            _value(row.seconds),
            _value(row.tokens),
            _text(row.same_as),
            row.digest,
        ]


def _value(value: float | None) -> object:
    return "" if value is None else value


def _text(value: str) -> str:
    return "'" + value if value.startswith(FORMULA) else value
