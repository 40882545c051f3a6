import json
import re
from pathlib import Path

import pytest
from django.test import Client

from tests.db.frontend.trace_pages import rows, run_new, seq_of, stored, text
from tests.support.transcripts import HOSTILE, Script, telling
from traces.contract import EventKind
from traces.models import Event, Trace

pytestmark = pytest.mark.django_db
HARMFUL = re.compile(
    r"<script(?![^>]*src=)[^>]*>|<style|<img src=x|<svg/onload|href=.javascript:|onerror=\"", re.IGNORECASE
)


def test_hostile_text_stays_text_everywhere(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    Trace.objects.filter(pk=trace.pk).update(name=HOSTILE[0], dialect=HOSTILE[1][:64])
    pages = [
        text(anonymous, run),
        text(anonymous, run, f"?q={HOSTILE[1]}&to={HOSTILE[2]}"),
        text(anonymous, run, "outline/"),
    ]
    pages += [json.loads(text(anonymous, run, "rows.json?after=0"))["html"]]
    for seq in range(1, trace.event_count + 1):
        for query in ("", "?of=raw", "?of=answer&offset=3", "?of=text&offset=3"):
            pages.append(text(anonymous, run, f"{trace.key}/{seq}/{query}"))
    found = [match[0] for page in pages for match in HARMFUL.finditer(page)]
    assert found == []
    assert "&lt;script&gt;window.__xss=1" in pages[0]
    assert "{{ 7|add:7 }}" in pages[0]


def test_what_hides_or_reorders_is_named_and_emoji_are_left(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    stored(run, telling(), tmp_path)
    page = text(anonymous, run)
    assert "abc[U+202E]gpj.exe[U+200B] [U+FEFF][U+E0041] e\u0301 👩\u200d👩" in page
    assert not set("\u202e\u200b\ufeff\U000e0041") & set(page)


def test_names_of_calls_and_records_hide_nothing_either(anonymous: Client, tmp_path: Path) -> None:
    run, script, trick = run_new(), Script(), "a\u202eb\x1b[31mc\U000e0041"
    script.call(trick, {trick: trick}, trick, call_id=trick)
    script.lines.append(json.dumps({"type": "system", "subtype": trick, "session_id": "s1"}))
    trace = stored(run, script, tmp_path)
    parts = ["", "outline/", *(f"{trace.key}/{seq}/" for seq in range(1, trace.event_count + 1))]
    for part in parts:
        assert not set("\u202e\x1b\U000e0041") & set(text(anonymous, run, part)), part
    assert "call <code>a[U+202E]bc[U+E0041]</code>" in "".join(text(anonymous, run, part) for part in parts)


def test_a_colour_of_endless_digits_is_none(anonymous: Client, tmp_path: Path) -> None:
    run, script = run_new(), Script()
    script.say("before \x1b[" + "9" * 5000 + "m after")
    trace = stored(run, script, tmp_path)
    assert text(anonymous, run)
    assert "before  after" in text(anonymous, run, f"{trace.key}/{trace.event_count}/")


def test_a_lone_surrogate_and_a_nul_survive(anonymous: Client, tmp_path: Path) -> None:
    run, script = run_new(), Script()
    script.say("half \\ud83d")
    script.lines[-1] = script.lines[-1].replace("\\\\ud83d", "\\ud83d")
    trace = stored(run, script, tmp_path)
    assert "half" in text(anonymous, run)
    assert "half" in text(anonymous, run, f"{trace.key}/{trace.event_count}/")


def test_terminal_colours_are_shown_and_other_controls_are_gone(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    whole = text(anonymous, run, f"{trace.key}/{seq_of(trace, EventKind.TOOL_CALL)}/")
    assert '<span class="a-red">red</span> plain ' in whole
    assert "title" not in whole.split("plain")[1].split("&lt;")[0]
    assert not set("\x1b\x07\x00") & set(whole)


def test_a_result_stands_with_its_call_and_only_there(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    shown = rows(anonymous, run, "after=0") + rows(anonymous, run, "after=14")
    paired = set(Event.objects.filter(trace=trace, kind=EventKind.TOOL_RESULT).values_list("seq", flat=True))
    assert paired
    assert not paired & set(shown)
    assert len({*shown} | paired) == trace.event_count


def test_an_edit_is_a_diff(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    whole = text(anonymous, run, f"{trace.key}/{seq_of(trace, EventKind.TOOL_CALL, tool='Edit')}/")
    assert re.search(r'<li class="del" data-n="2">b = 2 ', whole)
    assert '<li class="add" data-n="2">b = 3</li>' in whole
    assert '<li data-n="1">a = 1</li>' in whole


def test_an_image_is_a_thumbnail_and_its_bytes_are_served_as_what_they_are(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    page = text(anonymous, run)
    found = re.search(r'<img class="thumb" loading="lazy" width="192" height="108" alt="[^"]+" src="([^"]+)"', page)
    assert found
    answer = anonymous.get(found[1])
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/png")
    assert answer.content.startswith(b"\x89PNG")
    assert "sandbox" in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert anonymous.get(found[1].replace("/0", "/7")).status_code == 404
    assert anonymous.get(f"/runs/{run.slug}/trace/{trace.key}/2/images/0").status_code == 404


def test_a_picture_that_is_none_is_not_served(anonymous: Client, tmp_path: Path) -> None:
    run, script = run_new(), Script()
    source = {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+PC9zdmc+"}
    script.call("Read", {"file_path": "x.svg"}, [{"type": "image", "source": source}])
    trace = stored(run, script, tmp_path)
    seq = seq_of(trace, EventKind.TOOL_RESULT)
    assert anonymous.get(f"/runs/{run.slug}/trace/{trace.key}/{seq}/images/0").status_code == 404


def test_base64_is_never_text(anonymous: Client, tmp_path: Path) -> None:
    run = run_new()
    trace = stored(run, telling(), tmp_path)
    for page in [
        text(anonymous, run),
        *(text(anonymous, run, f"{trace.key}/{n}/") for n in range(1, trace.event_count + 1)),
    ]:
        assert not re.search(r"[A-Za-z0-9+/]{160,}", page)
    assert "[base64, " in page or any("[base64, " in text(anonymous, run, f"{trace.key}/{n}/") for n in range(1, 20))


def test_the_raw_record_is_a_download_word_for_word(anonymous: Client, tmp_path: Path) -> None:
    run, script = run_new(), telling()
    trace = stored(run, script, tmp_path)
    answer = anonymous.get(f"/runs/{run.slug}/trace/{trace.key}/2/raw")
    assert answer.content.rstrip(b"\n") == script.lines[1].encode()
    assert answer["Content-Disposition"].startswith("attachment")
    assert answer["Content-Type"].startswith("text/plain")


def test_a_long_result_comes_in_pieces_that_join_to_the_whole(anonymous: Client, tmp_path: Path) -> None:
    run, script = run_new(), Script()
    lines = [f"zeile {number} äöü 🚀 \x1b[3{number % 7}mfarbe\x1b[0m\n" for number in range(3000)]
    told = "".join(lines) + "Ende. " * 6000
    script.call("Bash", {"command": "seq"}, told)
    trace = stored(run, script, tmp_path)
    seq, offset, pieces = seq_of(trace, EventKind.TOOL_CALL), 0, []
    for _ in range(400):
        page = text(anonymous, run, f"{trace.key}/{seq}/?of=answer&offset={offset}")
        pieces.append(re.sub(r"<[^>]+>", "", re.search(r'aria-label="Result">(.*?)</pre>', page, re.DOTALL)[1]))  # type: ignore[index]
        assert len(page) < 60_000
        following = re.search(r"offset=(\d+)\">Next part", page)
        if not following:
            break
        assert int(following[1]) > offset
        offset = int(following[1])
    assert "".join(pieces) == re.sub(r"\x1b\[\d+m", "", told)
