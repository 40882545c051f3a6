"""The per-sample records of one submission, a page at a time, read from the grading worker's file where it is here."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser

from benchmark.services.artifacts import artifact_local
from frontend.access import OPERATE
from frontend.run_episode import Turn, turns
from frontend.trace_text import harmless
from grading.models import Verdict
from traces.models import ANNOTATE

PER_PAGE = 50
LINE_MOST = 4_000_000
TEXT_MOST = 20_000


@dataclass(frozen=True)
class SampleRow:
    """One graded item. Its texts are empty for readers who may not see them: they would tell what is held out."""

    place: int
    item: str
    reward: float | None
    """None where the line is damaged: that is no reward of zero."""
    tokens: int | None
    finish: str
    answer: str
    outputs: Sequence[str]
    turns: Sequence[Turn] = ()
    """Of an episode with several steps."""


@dataclass(frozen=True)
class Records:
    rows: Sequence[SampleRow]
    page: int
    more: bool
    """Whether a next page exists."""
    why: str = ""
    """Why there are no rows, empty where there are."""


def may_read_texts(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Operators and researchers. Visitors see rewards only, for an agent may read these pages, too."""
    return isinstance(user, AbstractBaseUser) and any(user.has_perm(each) for each in (OPERATE, ANNOTATE))  # type: ignore[attr-defined]


def records_read(verdict: Verdict | None, page: int, *, texts: bool) -> Records:
    """Page `page` from 1."""
    if verdict is None or not verdict.records:
        return Records([], page, False, "No record was kept: nothing was graded, or the score was stated elsewhere.")
    folder = Path(settings.DATA_DIR).resolve()
    path = (folder / verdict.records).resolve()
    if not path.is_relative_to(folder):
        return Records([], page, False, "The records lie outside of the data folder.")
    first = (page - 1) * PER_PAGE
    try:
        place = Path(settings.DATA_DIR) / verdict.records
        with artifact_local(place, sha256=verdict.records_sha256).open("rb") as file:
            lines = list(islice(_lines(file), first, first + PER_PAGE + 1))
    except OSError:
        return Records([], page, False, "The records are not on this machine; they lie on the worker that graded.")
    rows = [_row(first + at, line, texts) for at, line in enumerate(lines[:PER_PAGE], start=1)]
    why = "" if rows else "There are no further records."
    return Records(rows, page, len(lines) > PER_PAGE, why)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Each line, the start of one that is too long to be read."""
    while line := file.readline(LINE_MOST):
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(LINE_MOST)
        yield line


def _row(place: int, line: bytes, texts: bool) -> SampleRow:
    try:
        told = json.loads(line)
    except ValueError:
        told = None
    if not isinstance(told, dict):
        return SampleRow(place, "", None, None, "line is damaged", "", ())
    given = told.get("outputs")
    outputs = [harmless(str(each))[:TEXT_MOST] for each in given] if texts and isinstance(given, list) else []
    reward, tokens = _number(told.get("reward")), _number(told.get("tokens"))
    return SampleRow(
        place=place,
        item=harmless(str(told.get("item_id", "")))[:200] if texts else "",
        reward=reward,
        tokens=None if tokens is None else int(tokens),
        finish=harmless(str(told.get("finish_reason", "")))[:40],
        answer=harmless(str(told.get("answer") or ""))[:TEXT_MOST] if texts else "",
        outputs=outputs,
        turns=turns(told, outputs) if texts else (),
    )


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # a whole number beyond any float
        return None
