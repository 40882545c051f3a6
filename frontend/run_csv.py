"""A run's submissions as CSV, the oldest first."""

from collections.abc import Iterable

from frontend.csv_text import csv_text
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
    "claimed",
]


def submissions_csv(page: RunPage) -> str:
    """One line a submission; unscored is an empty field, never 0. Text that a spreadsheet would run is quoted."""
    return csv_text(COLUMNS, _rows(page))


def _rows(page: RunPage) -> Iterable[list[object]]:
    for point in page.points:
        row, verdict = point.submission, point.submission.verdict
        yield [
            row.number,
            row.received_at.isoformat(),
            round(row.elapsed_s, 3),
            row.state,
            point.score,
            verdict.standard_error if verdict and point.score is not None else None,
            page.baseline,
            page.gain(point.score),
            point.best,
            int(point.new_best),
            verdict.code if verdict else "",
            verdict.message if verdict else "",
            verdict.fix if verdict else "",
            row.model_path,
            row.seconds,
            row.tokens,
            row.same_as,
            row.digest,
            int(verdict.claimed) if verdict else "",
        ]
