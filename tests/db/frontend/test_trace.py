import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from benchmark.models import Run, RunState
from frontend.trace_page import start_of
from tests.db.frontend.trace_pages import numbers, rows, run_new, seq_of, stored, text
from tests.support.rows import graded_row, run_row
from tests.support.transcripts import HOSTILE, START, Script, telling
from traces.contract import EventKind
from traces.models import Event, LabelSource, MethodLabel, Trace
from traces.services.ingest import TraceIngest, trace_import, trace_open

pytestmark = pytest.mark.django_db
PARTS = ("", "rows.json", "search.json?q=script", "outline/")


@pytest.mark.parametrize("part", PARTS)
def test_everybody_reads_every_part(anyone: Client, tmp_path: Path, part: str) -> None:
    run = run_new()
    stored(run, telling(), tmp_path)
    assert text(anyone, run, part)


@pytest.mark.parametrize("part", [*PARTS, "place.json?to=1", "0123/1/", "0123/1/raw", "0123/1/images/0"])
def test_what_is_not_there_is_not_found_and_reading_is_all_a_get_does(operator: Client, part: str) -> None:
    run = run_new()
    assert operator.get(f"/runs/20260101-0000-abcdef/trace/{part}").status_code == 404
    assert operator.post(f"/runs/{run.slug}/trace/{part}").status_code == 405
    if part:
        assert operator.get(f"/runs/{run.slug}/trace/{part}").status_code == 404


def test_an_event_of_another_run_is_not_found(anyone: Client, tmp_path: Path) -> None:
    run, other = run_new(), run_new()
    trace = stored(run, telling(), tmp_path)
    assert anyone.get(f"/runs/{run.slug}/trace/{trace.key}/1/").status_code == 200
    assert anyone.get(f"/runs/{other.slug}/trace/{trace.key}/1/").status_code == 404


def test_pages_join_without_gap_or_repetition_in_both_directions(anonymous: Client, tmp_path: Path) -> None:
    run, script = run_new(), Script()
    for number in range(40):
        script.call("Bash", {"command": f"echo {number}"}, "x", failed=number % 5 == 0)
        script.say(f"said {number}")
    trace = stored(run, script, tmp_path)
    for filters, kinds in (
        ("", None),
        ("&kind=agent", [EventKind.ASSISTANT]),
        ("&kind=tools&kind=agent", [EventKind.ASSISTANT, EventKind.TOOL_CALL]),
    ):
        wanted = Event.objects.filter(trace=trace).exclude(kind=EventKind.TOOL_RESULT)
        wanted = wanted.filter(kind__in=kinds) if kinds else wanted
        expected = list(wanted.order_by("seq").values_list("seq", flat=True))
        assert walk(anonymous, run, filters, forward=True) == expected
        assert walk(anonymous, run, filters, forward=False) == expected


def walk(client: Client, run: Run, filters: str, *, forward: bool) -> list[int]:
    found: list[int] = []
    place = "after=0" if forward else "before=100000"
    for _ in range(100):
        told = json.loads(text(client, run, f"rows.json?{place}{filters}"))
        part = numbers(told["html"])
        found = found + part if forward else part + found
        if not told["after" if forward else "before"]:
            return found
        place = f"after={found[-1]}" if forward else f"before={found[0]}"
    raise AssertionError("it never ends")


def test_the_filter_for_errors_shows_failed_results(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    assert rows(anonymous, run, "after=0&kind=errors") == [seq_of(trace, EventKind.TOOL_RESULT, failed=True)]
    assert json.loads(text(anonymous, run, "search.json?kind=errors"))["count"] == 1


def test_a_search_finds_text_in_a_result_at_its_call(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    told = json.loads(text(anonymous, run, "search.json?q=DOES NOT EXIST"))
    failed = Event.objects.get(trace=trace, failed=True)
    assert [seq for seq, _ in told["hits"]] == [failed.call_seq]
    assert "does not exist" in told["hits"][0][1]
    assert (told["more"], told["events"]) == (False, trace.event_count)
    assert json.loads(text(anonymous, run, "search.json?q=DOES NOT EXIST&kind=agent"))["hits"] == []


@pytest.mark.parametrize("filters", ["", "&kind=raw", "&q=nothing-like-it", "&kind=edits&q=zzz"])
def test_a_link_works_whatever_the_filters(anonymous: Client, tmp_path: Path, filters: str) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    said = Event.objects.get(trace=trace, kind=EventKind.THINKING)
    page = text(anonymous, run, f"?line={said.line}&event={said.seq}{filters}")
    assert f'data-target="{said.seq}"' in page
    assert said.seq in numbers(page)


def test_links_by_line_and_call_survive_reading_in_again(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    script = telling()
    trace = stored(run, script, tmp_path)
    call = Event.objects.get(trace=trace, kind=EventKind.TOOL_CALL, call_id="toolu_000005")
    link = f"?line={call.line}&call={call.call_id}"
    assert f'data-target="{call.seq}"' in text(anonymous, run, link)
    Trace.objects.all().delete()
    again = stored(run, script, tmp_path)
    assert again.key != trace.key
    assert f'data-target="{call.seq}"' in text(anonymous, run, link)
    assert f'data-target="{call.seq}"' in text(anonymous, run, f"?line={call.line}&event=999999")


@pytest.mark.parametrize(
    ("words", "kind", "facts"),
    [
        ("#1", EventKind.TOOL_CALL, {"call_id": "toolu_000005"}),
        ("L3", EventKind.THINKING, {}),
        ("0:00:30", EventKind.ASSISTANT, {}),
        ("toolu_000003", EventKind.TOOL_CALL, {"call_id": "toolu_000003"}),
        ("2026-03-01T09:01:00", EventKind.THINKING, {}),
        ("3", EventKind.THINKING, {}),
    ],
)
def test_words_lead_to_an_event(
    anonymous: Client, tmp_path: Path, words: str, kind: EventKind, facts: dict[str, Any]
) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    answer = anonymous.get(f"/runs/{run.slug}/trace/place.json", {"to": words})
    assert answer.json() == {"seq": seq_of(trace, kind, **facts)}


@pytest.mark.parametrize(
    "words",
    ["", "#99", "nowhere", "²", "9" * 400, "-1", HOSTILE[0], "0001-01-01T00:00:00+14:00", "9999-12-31T23:59-12:00"],
)
def test_words_that_lead_nowhere_say_what_would(anonymous: Client, tmp_path: Path, words: str) -> None:
    run = run_new()
    stored(run, telling(), tmp_path)
    answer = anonymous.get(f"/runs/{run.slug}/trace/place.json", {"to": words})
    assert answer.status_code == 404
    assert "Write an event's number" in answer.json()["error"]


@pytest.mark.parametrize(
    "query", ["after=x", "after=-1", "before=1e9", "around=9" + "9" * 30, "after=1&seen=²", "after=" + "9" * 5000]
)
def test_a_number_that_is_none_is_refused(anonymous: Client, tmp_path: Path, query: str) -> None:
    run = run_new()
    stored(run, telling(), tmp_path)
    assert anonymous.get(f"/runs/{run.slug}/trace/rows.json?{query}").status_code == 400


@pytest.mark.parametrize("query", ["to=", "line=", "event=", "to=%23", "to=L", "to=9999:59:", "call=%00"])
def test_a_link_with_digits_without_end_opens_the_page(anonymous: Client, tmp_path: Path, query: str) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    Event.objects.filter(trace=trace, seq=1).update(at="9999-12-31T23:00Z")
    Trace.objects.filter(pk=trace.pk).update(first_at="9999-12-31T23:00Z")
    for digits in ("9" * 5000, "59", "²"):
        assert 'id="trace"' in text(anonymous, run, f"?{query}{digits}")


def test_claimed_submissions_are_on_the_curve_of_a_run_graded_elsewhere(anonymous: Client, tmp_path: Path) -> None:
    run = run_new(state=RunState.FINISHED)
    stored(run, telling(), tmp_path)
    page = text(anonymous, run, "outline/")
    assert "Submission 1: 20.50, new best, claimed" in page
    assert "#2 10.00" in page


def test_submissions_graded_here_count_not_what_the_transcript_says(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    graded_row(run, 33.0)
    trace = stored(run, telling(), tmp_path)
    page = text(anonymous, run, "outline/")
    assert "Submission 1: 33.00, new best" in page
    assert "20.50" not in page
    assert f'data-seq="{seq_of(trace, EventKind.TOOL_CALL, call_id="toolu_000005")}"' in page


def test_method_switches_are_marked_by_two_cues_and_begin_phases(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    for number, (score, method) in enumerate([(20.0, "SFT"), (35.0, "GRPO"), (12.0, "DPO")], 1):
        graded_row(run, score)
        MethodLabel.objects.create(run=run, number=number, source=LabelSource.RULES, methods=[method])
    script = Script()
    for number in (1, 2, 3):
        script.submit(number, None)
    stored(run, script, tmp_path)
    page = text(anonymous, run, "outline/")
    up, down = re.findall(r'<line class="(sw(?: bad)?)"[^>]*/><use class="[^"]*" href="#s-(up|down)"', page)
    assert (up, down) == (("sw", "up"), ("sw bad", "down"))
    assert "SFT to GRPO with submission 2: raised the best score" in page
    assert "GRPO to DPO with submission 3: did not raise the best score" in page
    assert re.findall(r"<span>(SFT|GRPO|DPO)</span>", page) == ["SFT", "GRPO", "DPO"]
    assert 'class="band rl"' in page


def test_times_count_from_the_runs_start_unless_it_is_another_days(tmp_path: Path) -> None:
    trace = stored(run_new(), telling(), tmp_path)
    assert start_of(trace) == START
    other = stored(run_row(), telling(), tmp_path)
    assert start_of(other) == other.first_at


def test_a_run_without_a_trace_says_how_to_get_one(anyone: Client) -> None:
    run = run_new()
    page = text(anyone, run)
    assert "This run has no trace" in page
    assert f"trace_import --run {run.slug}" in page


def test_an_empty_transcript_says_so(anyone: Client, tmp_path: Path) -> None:
    run = run_new()
    (tmp_path / "empty.jsonl").touch()
    trace_import(run, tmp_path / "empty.jsonl")
    page = text(anyone, run)
    assert "The transcript is empty" in page
    assert "0 bytes" in page
    assert json.loads(text(anyone, run, "rows.json"))["html"].strip() == ""


def test_files_that_are_gone_are_said_and_nothing_breaks(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    trace.folder.rename(tmp_path / "elsewhere")
    assert "not on this machine" in text(anonymous, run)
    for part in ("rows.json", "search.json?q=abc", f"{trace.key}/4/", f"{trace.key}/4/raw"):
        answer = anonymous.get(f"/runs/{run.slug}/trace/{part}")
        assert answer.status_code == 503
        assert "not on this machine" in answer.content.decode()
    assert text(anonymous, run, "outline/")


def test_a_growing_trace_tells_what_is_new_and_which_calls_were_answered(anonymous: Client) -> None:
    run, script = run_new(), Script()
    ingest = TraceIngest(trace_open(run, name="live.jsonl"))
    try:
        call = script.call("Bash", {"command": "sleep 9"}, None)
        ingest.feed(script.data)
        ingest.flush()
        told = json.loads(text(anonymous, run, "rows.json?after=0"))
        assert told["reading"] is True
        seen, last = told["events"], numbers(told["html"])[-1]
        script.lines.clear()
        script.answer(call, "slept")
        script.say("Awake.")
        ingest.feed(script.data)
        ingest.flush()
        told = json.loads(text(anonymous, run, f"rows.json?after={last}&seen={seen}"))
        assert numbers(told["renewed"]) == [last]
        assert "slept" in told["renewed"]
        assert "Awake." in told["html"]
        ingest.finish()
    finally:
        ingest.close()
    assert json.loads(text(anonymous, run, "search.json"))["reading"] is False
