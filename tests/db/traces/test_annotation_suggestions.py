"""Suggestions by rules and by a language model: stored with their source, never as labels."""

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmark.models import Run
from grading.services.annotation_suggest import run_suggest, suggesters
from tests.support.annotating import COLLAPSE, EARLY, ended_run
from tests.support.judge import KEY, MODEL, Behaviour, ScriptedJudge, in_turn, prompt_text, refuses, says
from tests.support.rows import baseline_row, graded_row
from traces.methods.failures import RunFacts
from traces.models import Annotation, Event, Suggestion
from traces.services.annotation_llm import LlmSuggester
from traces.services.annotation_suggestions import SuggesterFault

pytestmark = pytest.mark.django_db
GOOD = json.dumps({"failures": [{"type": COLLAPSE, "confidence": "probable", "evidence": ["event 7 says NaN"]}]})


@pytest.fixture
def run() -> Run:
    run = ended_run()
    baseline_row(run, 10.0)
    return run


def asked(behave: Behaviour, run: Run) -> tuple[list[Any], ScriptedJudge]:
    with ScriptedJudge(behave) as judge:
        suggester = LlmSuggester(url=judge.url, model=MODEL, key=KEY, timeout_s=5, wait_s=0.001)
        return list(suggester.suggest(run, RunFacts(scores=(1.5,)))), judge


def test_rules_are_stored_once_and_again_when_they_change(run: Run) -> None:
    (first,) = run_suggest(run)
    assert (first.source, first.failure_type, first.confidence) == ("rules", EARLY, "certain")
    assert first.evidence[0] == "0 submissions, 0 scored"
    assert run_suggest(run) == [first]
    graded_row(run, 40.0)
    graded_row(run, 12.0)
    (second,) = run_suggest(run)
    assert second.failure_type == COLLAPSE
    assert Suggestion.objects.count() == 2
    assert not Annotation.objects.exists()


def test_that_nothing_is_suggested_is_stored_too(run: Run) -> None:
    graded_row(run, 40.0)
    (told,) = run_suggest(run)
    assert (told.failure_type, told.evidence) == ("", [])


def test_no_model_is_asked_unless_configured_and_asked_for(settings: Any) -> None:
    assert [each.source for each in suggesters(with_llm=True)] == ["rules"]
    settings.SUGGESTER_URL, settings.SUGGESTER_MODEL = "http://127.0.0.1:9", "some-model"
    assert [each.source for each in suggesters(with_llm=False)] == ["rules"]
    assert [each.source for each in suggesters(with_llm=True)] == ["rules", "llm:some-model"]


def test_a_model_reads_facts_and_events(run: Run) -> None:
    trace = run.traces.create(name="agent.log", event_count=1)
    Event.objects.create(
        trace=trace, seq=1, kind="message", line=1, offset=0, length=9, basis="share", preview="loss is NaN",
        body_offset=0, text_bytes=0, argument_bytes=0,
    )  # fmt: skip
    (found,), judge = asked(says(f"Here it is:\n```json\n{GOOD}\n```"), run)
    assert (found.type, found.confidence, found.evidence) == (COLLAPSE, "probable", ("event 7 says NaN",))
    told = prompt_text(judge.requests[0])
    assert "1 message  loss is NaN" in told
    assert "scores [1.5]" in told


def test_an_empty_list_is_an_answer(run: Run) -> None:
    found, judge = asked(says('{"failures": []}'), run)
    assert (found, len(judge.requests)) == ([], 1)


@pytest.mark.parametrize(
    "reply",
    [
        "I would say collapse.",
        "{",
        '{"failures": "none"}',
        '{"failures": ["collapse"]}',
        '{"failures": [{"type": "Bad luck", "confidence": "certain", "evidence": []}]}',
        '{"failures": [{"type": "Early coding failure", "confidence": 0.9, "evidence": []}]}',
    ],
)
def test_what_cannot_be_read_is_a_fault_and_no_none(reply: str, run: Run) -> None:
    with pytest.raises(SuggesterFault):
        asked(says(reply), run)


def test_passing_troubles_are_tried_again_and_refusals_are_not(run: Run) -> None:
    found, judge = asked(in_turn([refuses(503), says("hm")], says(GOOD)), run)
    assert (len(found), len(judge.requests)) == (1, 3)
    with ScriptedJudge(refuses(404)) as judge, pytest.raises(SuggesterFault, match="AGENT2_SUGGESTER_URL") as caught:
        LlmSuggester(url=judge.url, model=MODEL, key=KEY, wait_s=0.001).suggest(run, RunFacts())
    assert len(judge.requests) == 1
    assert KEY not in str(caught.value)


def test_the_command_keeps_the_rules_when_the_model_fails(
    run: Run, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CommandError, match="AGENT2_SUGGESTER_URL"):
        call_command("annotation_suggest", run=run.slug, llm=True)
    with ScriptedJudge(refuses(400)) as judge:
        settings.SUGGESTER_URL, settings.SUGGESTER_MODEL, settings.SUGGESTER_KEY = judge.url, MODEL, KEY
        with pytest.raises(CommandError, match="1 of 1"):
            call_command("annotation_suggest", run=run.slug, llm=True)
    assert [each.source for each in Suggestion.objects.all()] == ["rules"]
    with ScriptedJudge(says(GOOD)) as judge:
        settings.SUGGESTER_URL = judge.url
        call_command("annotation_suggest", run=run.slug, llm=True)
    assert f"rules: {EARLY}, llm:{MODEL}: {COLLAPSE}" in capsys.readouterr().out
