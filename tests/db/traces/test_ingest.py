"""Storing transcripts: once, whatever is sent again, and the same after an interruption."""

import hashlib
import os
from pathlib import Path

import pytest
from django.db import transaction
from django.forms.models import model_to_dict

from benchmark.models import Run
from tests.support.rows import run_row
from tests.unit.traces.support import CLAUDE, read, transcripts
from traces.models import Event, Trace, TraceState
from traces.selectors import body, source
from traces.services.ingest import OutOfOrder, TraceIngest, events_append, trace_import, trace_open

pytestmark = pytest.mark.django_db
WHOLE = b"".join(CLAUDE)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, settings: object) -> None:
    settings.TRACES_DIR = tmp_path / "traces"  # type: ignore[attr-defined]


@pytest.fixture
def run() -> Run:
    return run_row()


def test_what_a_database_cannot_hold_is_replaced_in_the_summary_too(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(WHOLE.replace(b'"s1"', b'"s\\u0000\\ud800"').replace(b'"m-1"', b'"m\\u0000"'))
    trace = trace_import(run, path)
    assert trace.summary["sessions"] == ["s\ufffd\ufffd"]
    assert trace.model == "m\ufffd"


def test_a_file_whose_reading_was_interrupted_is_read_on_in_the_same_trace(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(WHOLE)
    digest = hashlib.sha256(WHOLE).hexdigest()
    begun = Trace.objects.create(run=run, name="t.jsonl", source_sha256=digest)
    ingest = TraceIngest(begun)
    ingest.feed(b"".join(CLAUDE[:2]))
    ingest.flush()
    ingest.close()
    done = trace_import(run, path)
    assert (done.pk, done.state) == (begun.pk, TraceState.SEALED)
    assert done.event_count == len(read(WHOLE)[0])
    assert trace_import(run, path).pk == begun.pk


def test_no_file_stays_open_where_one_cannot_be_opened_or_written(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened() -> list[str]:
        links = [os.readlink(each) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
        return [link for link in links if str(tmp_path) in link]

    trace = Trace.objects.create(run=run, name="t.jsonl")
    ingest = TraceIngest(trace)
    ingest.feed(WHOLE)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("traces.storage.files.os.pwrite", full)
        with pytest.raises(OSError, match="No space"):
            ingest.close()
    assert opened() == []
    (trace.folder / "search.bits").unlink()
    trace.filter_bytes = 9
    with pytest.raises(OSError, match="has 0 of 9 bytes"):
        TraceIngest(trace)
    assert opened() == []


def stored(trace: Trace) -> list[dict[str, object]]:
    rows = Event.objects.filter(trace=trace).order_by("seq")
    return [model_to_dict(row, exclude=["id", "trace"]) | {"body": body(row)} for row in rows]


def imported(run: Run, folder: Path, data: bytes, **values: object) -> Trace:
    path = folder / "transcript.jsonl"
    path.write_bytes(data)
    return trace_import(run, path, **values)  # type: ignore[arg-type]


def test_a_file_becomes_a_sealed_trace(run: Run, tmp_path: Path) -> None:
    trace = imported(run, tmp_path, WHOLE)
    assert (trace.state, trace.event_count, trace.raw_count, trace.line_count) == (TraceState.SEALED, 5, 0, 5)
    assert (trace.dialect, trace.agent, trace.agent_version, trace.model) == (
        "claude-stream",
        "Claude Code",
        "2.1",
        "m-1",
    )
    assert (trace.tokens_input, trace.tokens_output, trace.tokens_cached, trace.cost) == (15, 40, 10, 0.5)
    assert (trace.folder / "transcript").read_bytes() == WHOLE
    assert trace.sha256 == hashlib.sha256(WHOLE).hexdigest()
    call, result = trace.events.get(seq=3), trace.events.get(seq=4)
    assert (call.preview, call.tool, call.call_id) == ('{"command": "ls"}', "Bash", "c1")
    assert body(call).arguments == {"command": "ls"}
    assert (result.call_seq, result.failed, result.preview) == (3, False, "README.md")
    assert source(result) == CLAUDE[3].rstrip(b"\n")


def test_secrets_are_masked_before_storage(run: Run, tmp_path: Path) -> None:
    key = "sk-ant-api03-" + "aB3_" * 20
    trace = imported(
        run, tmp_path, WHOLE.replace(b"README.md", f"{key} and hidden-value".encode()), secrets=["hidden-value"]
    )
    assert trace.masked_count == 2
    assert body(trace.events.get(seq=4)).text == "••• and •••"
    for file in trace.folder.iterdir():
        assert key.encode() not in file.read_bytes()
        assert b"hidden-value" not in file.read_bytes()


def test_the_same_file_again_is_the_same_trace(run: Run, tmp_path: Path) -> None:
    assert imported(run, tmp_path, WHOLE).pk == imported(run, tmp_path, WHOLE).pk
    assert Event.objects.count() == 5


def test_a_run_may_have_several_traces(run: Run, tmp_path: Path) -> None:
    imported(run, tmp_path, WHOLE)
    imported(run, tmp_path, WHOLE + b"Killed\n")
    assert [trace.event_count for trace in run.traces.order_by("id")] == [5, 6]


@pytest.mark.parametrize("stop", [0, 100, 700, 1100, len(WHOLE)])
def test_after_an_interruption_the_whole_is_fed_again(run: Run, tmp_path: Path, stop: int) -> None:
    expected = stored(imported(run, tmp_path, WHOLE))
    trace = trace_open(run, name="live")
    first = TraceIngest(trace)
    first.feed(WHOLE[:stop])
    first.flush()
    first.feed(WHOLE[stop : stop + 300])  # never stored: the process dies here
    first.close()
    seen = Event.objects.filter(trace=trace).count()
    trace.refresh_from_db()
    second = TraceIngest(trace)
    for at in range(0, len(WHOLE), 77):
        second.feed(WHOLE[at : at + 77])
    assert Event.objects.filter(trace=trace).count() >= seen
    trace = second.finish()
    second.close()
    assert stored(trace) == expected
    assert trace.sha256 == hashlib.sha256(WHOLE).hexdigest()


def test_a_batch_sent_again_changes_nothing_and_a_gap_is_refused(run: Run) -> None:
    trace = trace_open(run, name="live")
    ingest = TraceIngest(trace)
    ingest.feed(WHOLE)
    rows = list(ingest._rows)
    ingest.flush()
    before = stored(trace)
    assert events_append(trace.pk, rows).event_count == len(before)
    assert stored(trace) == before
    later = [(row[0], row[1] + 100, *row[2:]) for row in rows]
    with pytest.raises(OutOfOrder), transaction.atomic():
        events_append(trace.pk, later)
    assert stored(trace) == before
    ingest.close()


def test_a_sealed_trace_takes_nothing_more(run: Run, tmp_path: Path) -> None:
    trace = imported(run, tmp_path, WHOLE)
    row = (
        trace.pk,
        6,
        *("raw", None, 1, 0, 0, "", "", "", "", None, "", None, None),
        *([None] * 5),
        "share",
        "",
        0,
        0,
        0,
        "{}",
    )
    events_append(trace.pk, [row])
    assert Event.objects.filter(trace=trace).count() == 5


def test_odd_text_survives_storage(run: Run, tmp_path: Path) -> None:
    """NUL, lone surrogates, NaN and long ids: in the body word for word, in the row as the database takes it."""
    line = CLAUDE[3].replace(b"README.md", b"\\u0000 \\ud800 \\ud83d\\ude80").replace(b'"c1"', b'"' + b"i" * 300 + b'"')
    score = b'{"type":"result","subtype":"x\\u0000","session_id":"s1","duration_ms":NaN,"total_cost_usd":NaN}\n'
    trace = imported(run, tmp_path, CLAUDE[0] + line + score)
    result, end = trace.events.get(seq=2), trace.events.get(seq=3)
    assert body(result).text == "\x00 \ud800 🚀"
    assert result.preview == "� � 🚀"
    assert len(result.call_id) == 192
    assert end.cost is None
    assert end.detail["duration_ms"] == "nan"
    assert end.detail["subtype"] == "x�"


def test_an_empty_file_is_a_trace_without_events(run: Run, tmp_path: Path) -> None:
    trace = imported(run, tmp_path, b"")
    assert (trace.state, trace.event_count, trace.dialect) == (TraceState.SEALED, 0, "")


def test_every_real_transcript_is_stored_whole(run: Run, shared_data: Path) -> None:
    for path in transcripts(shared_data):
        events, summary = read(path.read_bytes())
        trace = trace_import(run, path)
        assert trace.event_count == len(events) == Event.objects.filter(trace=trace).count(), path.name
        assert trace.raw_count == summary.kinds["raw"]
        rows = {row.seq: row for row in Event.objects.filter(trace=trace).select_related("trace")}
        for event in events:
            found = body(rows[event.seq])
            assert found.text == event.text, path.name
            assert found.arguments == event.arguments
            assert rows[event.seq].call_seq == event.call_seq
