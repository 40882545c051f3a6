"""The tab of a run's submissions: pages of them, and what changed in the code between any two."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import QueryDict

from frontend.bad_query import BadQuery
from frontend.best_so_far import Point
from frontend.run_diff import CodeDiff, code_diff
from frontend.run_page import RunPage

PER_PAGE = 200


@dataclass(frozen=True)
class Listing:
    """One page of submissions, the newest first. `a` and `b` are compared, 0 being an empty folder."""

    points: Sequence[Point]
    number: int
    pages: int
    kept: Sequence[int]
    """Submissions whose code was kept."""
    a: int | None
    b: int | None
    diff: CodeDiff | None

    @property
    def newer(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def older(self) -> int | None:
        return self.number + 1 if self.number < self.pages else None


def listing(page: RunPage, query: QueryDict) -> Listing:
    """Raises: BadQuery: a page or a submission that cannot be."""
    pages = max(1, -(-len(page.points) // PER_PAGE))
    number = _number(query, "page") or 1
    if not 1 <= number <= pages:
        raise BadQuery("page", f"There are pages 1 to {pages}.")
    kept = sorted(page.account.snapshots)
    a, b = _number(query, "a"), _number(query, "b")
    diff = None
    if a is not None and b is not None:
        for name, chosen in (("a", a), ("b", b)):
            if chosen not in (*kept, *((0,) if name == "a" else ())):
                raise BadQuery(name, f"No code was kept of submission {chosen}.")
        diff = code_diff(page.run, a, b)
    first = (number - 1) * PER_PAGE
    return Listing(page.newest_first[first : first + PER_PAGE], number, pages, kept, a, b, diff)


def _number(query: QueryDict, name: str) -> int | None:
    """Raises: BadQuery."""
    text = query.get(name, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadQuery(name, f"“{text[:40]}” is no number.")
    return int(text)
