"""Pages, places and search over a stored trace."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.support.rows import run_row
from traces.contract import EventKind
from traces.models import Trace
from traces.selectors import around, body_part, page, place, search
from traces.services.ingest import TraceIngest, trace_import, trace_open

pytestmark = pytest.mark.django_db
START = datetime(2026, 3, 1, 9, tzinfo=UTC)
STEPS = 40


def lines() -> bytes:
    """Line 1 begins the session; then a call on each even line and its result on the next."""
    out: list[dict[str, Any]] = [{"type": "init", "timestamp": START.isoformat(), "session_id": "s", "model": "m"}]
    for n in range(STEPS):
        at = (START + timedelta(seconds=10 * n)).isoformat()
        later = (START + timedelta(seconds=10 * n + 4)).isoformat()
        call: dict[str, Any] = {
            "tool_name": "shell",
            "tool_id": f"c{n}",
            "parameters": {"command": f"train --step {n}"},
        }
        out.append({"type": "tool_use", "timestamp": at, **call})
        result = {"tool_id": f"c{n}", "status": "success", "output": f"Loss of step {n} is Größe {n % 7}"}
        out.append({"type": "tool_result", "timestamp": later, **result})
    return "".join(json.dumps(line) + "\n" for line in out).encode()


@pytest.fixture
def trace(tmp_path: Path, settings: object) -> Trace:
    settings.TRACES_DIR = tmp_path / "traces"  # type: ignore[attr-defined]
    path = tmp_path / "file.jsonl"
    path.write_bytes(lines())
    return trace_import(run_row(), path)


def seqs(found: object) -> list[int]:
    return [event.seq for event in found.events]  # type: ignore[attr-defined]


def test_pages_follow_each_other_without_gap_or_repeat(trace: Trace) -> None:
    seen: list[int] = []
    while True:
        found = page(trace, after_seq=seen[-1] if seen else None, limit=7)
        assert found.more_before == bool(seen)
        seen += seqs(found)
        if not found.more_after:
            break
    assert seen == list(range(1, trace.event_count + 1))
    assert seqs(page(trace, before_seq=50, limit=5)) == [45, 46, 47, 48, 49]
    assert not page(trace, before_seq=3).more_before


def test_pages_of_some_kinds(trace: Trace) -> None:
    found = page(trace, kinds=["tool_call"], limit=1000)
    assert len(found.events) == STEPS
    assert {event.kind for event in found.events} == {"tool_call"}
    assert (found.more_before, found.more_after) == (False, False)


def test_the_number_of_queries_and_rows_does_not_grow(trace: Trace, django_assert_max_num_queries: object) -> None:
    with django_assert_max_num_queries(2):  # type: ignore[operator]
        assert len(page(trace, after_seq=10, limit=5000).events) == trace.event_count - 10


def test_places_by_line_call_number_and_time(trace: Trace) -> None:
    for event in (place(trace, line=20), place(trace, seq=20), place(trace, at=START + timedelta(seconds=90))):
        assert event is not None
        assert event.seq == 20
    by_call = place(trace, call_id="c9")
    assert by_call is not None
    assert (by_call.seq, by_call.kind) == (20, "tool_call")
    last = place(trace, line=10**6)
    assert last is not None
    assert last.seq == trace.event_count
    assert place(trace, call_id="nowhere") is None
    assert place(trace, call_id="") is None


def test_the_neighbourhood_of_a_place(trace: Trace) -> None:
    assert seqs(around(trace, line=20, limit=6)) == [17, 18, 19, 20, 21, 22]
    assert seqs(around(trace, seq=1, limit=6)) == [1, 2, 3, 4, 5, 6]
    hidden = around(trace, line=21, kinds=["tool_call"], limit=4)
    assert seqs(hidden) == [18, 20, 22, 24], "the place itself is filtered out"
    assert seqs(around(trace, call_id="nowhere")) == []


def test_search_by_text_kind_and_place(trace: Trace) -> None:
    found = search(trace, "LOSS OF STEP 1", limit=100)
    assert [hit.event.seq for hit in found.hits] == [5, *range(23, 43, 2)]
    assert not found.more
    assert "loss of step 1 is" in found.hits[0].excerpt
    assert [hit.event.seq for hit in search(trace, "train --step 39").hits] == [80]
    assert search(trace, "step 1", kinds=[EventKind.TOOL_CALL]).hits[0].event.kind == "tool_call"
    assert [hit.event.seq for hit in search(trace, "grösse 6", after_seq=70).hits] == [71]
    assert search(trace, "nowhere").hits == []
    assert search(trace, "").hits == []


def test_search_goes_on_where_it_stopped(trace: Trace) -> None:
    seen: list[int] = []
    while True:
        found = search(trace, "step", after_seq=seen[-1] if seen else 0, limit=9)
        seen += [hit.event.seq for hit in found.hits]
        if not found.more:
            break
    assert seen == list(range(2, trace.event_count + 1))


def test_a_trace_that_is_still_written_can_be_searched(tmp_path: Path, settings: object) -> None:
    settings.TRACES_DIR = tmp_path / "traces"  # type: ignore[attr-defined]
    live = trace_open(run_row(), name="live")
    ingest = TraceIngest(live)
    data = lines()
    ingest.feed(data[: len(data) // 2])
    ingest.flush()
    live.refresh_from_db()
    assert 0 < live.event_count < 2 * STEPS + 1
    assert [hit.event.seq for hit in search(live, "step 3 ").hits] == [9]
    assert seqs(page(live, limit=3)) == [1, 2, 3]
    ingest.close()


def test_a_long_text_is_read_in_pieces(trace: Trace) -> None:
    event = place(trace, seq=3)
    assert event is not None
    assert body_part(event, 5, 7) == b"of step"
    assert body_part(event, 0, 10**9).decode() == "Loss of step 0 is Größe 0"
