"""`trace_import` and `trace_export`, and what they write held against the published schema."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmark.models import Origin, Run, RunState
from tests.support.rows import run_row
from tests.unit.traces.support import CLAUDE, kinds, read, transcripts
from traces.export.check import atif_faults
from traces.models import Event, Trace
from traces.services.ingest import trace_import

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, settings: object) -> None:
    settings.TRACES_DIR = tmp_path / "traces"  # type: ignore[attr-defined]


def told(*args: Any, **options: Any) -> str:
    out = StringIO()
    call_command(*args, stdout=out, **options)
    return out.getvalue()


def transcript(folder: Path) -> Path:
    path = folder / "agent.jsonl"
    path.write_bytes(b"".join(CLAUDE))
    return path


def test_import_into_a_run(tmp_path: Path) -> None:
    run = run_row()
    out = told("trace_import", transcript(tmp_path), run=run.slug)
    assert "claude-stream, 5 events (0 raw) from 5 lines" in out
    assert run.traces.count() == 1


def test_import_makes_an_external_run(tmp_path: Path) -> None:
    told("trace_import", transcript(tmp_path), new=True, task="arithmetic", base_model="tiny")
    run = Run.objects.get()
    assert (run.origin, run.state, run.agent, run.driver) == (Origin.EXTERNAL, RunState.FINISHED, "Claude Code", "m-1")


def test_a_file_that_cannot_be_read_leaves_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUN_SECRET", "ab")
    for where in ({"new": True, "task": "arithmetic", "base_model": "tiny"}, {"run": run_row().slug}):
        with pytest.raises(CommandError, match="secret"):
            told("trace_import", transcript(tmp_path), secret_env=["RUN_SECRET"], **where)
    assert [run.origin for run in Run.objects.all()] == [Origin.LOCAL]


def test_names_of_an_imported_run_hide_nothing(tmp_path: Path) -> None:
    path = transcript(tmp_path)
    path.write_text(path.read_text().replace('"m-1"', json.dumps("m\u202e-\u200b\x1b[31m\U000e00411")))
    told("trace_import", path, new=True, task="arithmetic", base_model="tiny")
    assert Run.objects.get().driver == "m-[31m1"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "--run ID"),
        ({"run": "nowhere"}, "no run nowhere"),
        ({"new": True}, "--task and --base-model"),
    ],
)
def test_import_says_what_is_missing(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        told("trace_import", transcript(tmp_path), **options)
    with pytest.raises(CommandError, match="There is no file"):
        told("trace_import", tmp_path / "absent", dry_run=True)
    assert not Trace.objects.exists()


def test_a_dry_run_stores_nothing_and_shows_declared_beside_found(tmp_path: Path) -> None:
    out = told("trace_import", transcript(tmp_path), dry_run=True, table=True)
    assert "turns 2 (found 2)" in out
    assert not Trace.objects.exists()


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUN_SECRET", "README.md")
    run = run_row()
    told("trace_import", transcript(tmp_path), run=run.slug, secret_env=["RUN_SECRET"])
    assert "•••" in Event.objects.get(seq=4).preview


def test_export_as_atif(tmp_path: Path) -> None:
    trace = trace_import(run_row(), transcript(tmp_path))
    told("trace_export", trace.pk, out=tmp_path / "out.json", check=True)
    document = json.loads((tmp_path / "out.json").read_text())
    step = document["steps"][1]
    assert step["message"] == "I look."
    assert step["tool_calls"] == [{"tool_call_id": "c1", "function_name": "Bash", "arguments": {"command": "ls"}}]
    assert step["observation"] == {"results": [{"source_call_id": "c1", "content": "README.md"}]}
    assert step["metrics"] == {"prompt_tokens": 15, "cached_tokens": 10}
    assert document["final_metrics"]["total_completion_tokens"] == 40
    assert document["agent"] == {"name": "Claude Code", "version": "2.1", "model_name": "m-1"}


def test_export_as_json_lines(tmp_path: Path) -> None:
    trace = trace_import(run_row(), transcript(tmp_path))
    told("trace_export", trace.pk, format="jsonl", out=tmp_path / "out.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[2]["arguments"] == {"command": "ls"}
    assert rows[3]["text"] == "README.md"


def test_odd_values_are_exported_as_valid_json(tmp_path: Path) -> None:
    call = CLAUDE[2].replace(b'{"command":"ls"}', b'["\\ud800", NaN, "\\u0000"]')
    path = tmp_path / "odd.jsonl"
    path.write_bytes(CLAUDE[0] + call + CLAUDE[3] + CLAUDE[3])
    trace = trace_import(run_row(), path)
    told("trace_export", trace.pk, out=tmp_path / "out.json", check=True)
    text = (tmp_path / "out.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=pytest.fail)
    assert document["steps"][1]["tool_calls"][0]["arguments"] == {"value": ["�", "nan", "\x00"]}
    assert len(document["steps"][1]["observation"]["results"]) == 1, "the second result answers no call"


def test_an_export_read_again_has_the_same_calls(tmp_path: Path) -> None:
    trace = trace_import(run_row(), transcript(tmp_path))
    told("trace_export", trace.pk, out=tmp_path / "out.json")
    events, summary = read((tmp_path / "out.json").read_bytes())
    assert "tool_call" in kinds(events)
    assert summary.tokens.output == 40
    assert summary.cost == 0.5


def test_every_real_transcript_exports_as_valid_atif(tmp_path: Path, shared_data: Path) -> None:
    run = run_row()
    for path in transcripts(shared_data):
        trace = trace_import(run, path)
        told("trace_export", trace.pk, out=tmp_path / "out.json")
        document = json.loads((tmp_path / "out.json").read_text())
        assert atif_faults(document) == [], path.name
        calls = sum(len(step.get("tool_calls", ())) for step in document["steps"])
        results = sum(len(step.get("observation", {}).get("results", ())) for step in document["steps"])
        of = Event.objects.filter(trace=trace)
        assert (calls, results) == (of.filter(kind="tool_call").count(), of.filter(kind="tool_result").count()), (
            path.name
        )


def test_the_check_finds_faults() -> None:
    good: dict[str, Any] = {
        "schema_version": "ATIF-v1.6",
        "session_id": "s",
        "agent": {"name": "a", "version": "1"},
        "steps": [{"step_id": 1, "source": "user", "message": ""}],
    }
    assert atif_faults(good) == []
    step = good["steps"][0]
    changes: list[dict[str, Any]] = [
        {"step_id": 2},
        {"source": "person"},
        {"novelty": 1},
        {"tool_calls": []},
        {"timestamp": "yesterday"},
        {"observation": {"results": [{"source_call_id": "nowhere", "content": ""}]}},
    ]
    for change in changes:
        assert atif_faults({**good, "steps": [{**step, **change}]}), change
    assert atif_faults({**good, "steps": []})
