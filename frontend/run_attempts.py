"""What a run tried that it may not do: what its gateway, its limits and its output showed, and what it submitted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmark.models import IntegrityFinding, Run
from grading.models import Submission, SubmissionState

PLANTED: Mapping[str, str] = {
    "E_SYMLINK": "submitted links that lead out of the workspace, or to nothing",
    "E_SPECIAL_FILE": "submitted pipes, sockets or devices",
    "E_CHANGED": "submitted files that changed or were swapped while they were taken in",
    "outside": "submitted a path outside its workspace",
}
"""By a finding's code, or of an E_PATH by its rule."""
SUBMISSIONS_MOST, PLACES, PLACE_MOST = 5000, 10, 200


@dataclass(frozen=True)
class Attempt:
    """One kind of attempt. All of them were contained; people judge what they mean."""

    source: str
    """`gateway`, `limit`, `log` or `submission`."""
    code: str
    title: str
    count: int
    places: Sequence[str]
    """The first few: lines of the log, paths that were asked for, or submissions."""


def attempts_of(run: Run, intakes: Iterable[tuple[int, Any]]) -> list[Attempt]:
    """One query. What the sandbox showed is stored once the agent has ended; what was submitted tells at once.

    `intakes`: numbers of submissions with what their intake found.
    """
    stored = IntegrityFinding.objects.filter(run=run)
    seen = [Attempt(each.source, each.code, each.title, each.count, each.places) for each in stored]
    return seen + _planted(intakes)


def intakes_of(run: Run) -> Iterable[tuple[int, Any]]:
    """Of the submissions that were rejected."""
    rejected = Submission.objects.filter(run=run, state=SubmissionState.REJECTED).order_by("number")
    return rejected.values_list("number", "intake__findings")[:SUBMISSIONS_MOST]


def _planted(rows: Iterable[tuple[int, Any]]) -> list[Attempt]:
    places: dict[str, list[str]] = {}
    for number, findings in rows:
        for found in findings or []:
            code = _kind(found)
            if code in PLANTED:
                places.setdefault(code, []).append(f"submission {number}: {found.get('message', '')}"[:PLACE_MOST])
    return [
        Attempt("submission", code, PLANTED[code], len(where), where[:PLACES]) for code, where in sorted(places.items())
    ]


def _kind(found: Mapping[str, Any]) -> str:
    """What to look for in PLANTED."""
    code = str(found.get("code", ""))
    return str((found.get("detail") or {}).get("rule", "")) if code == "E_PATH" else code
