"""What tests of the trace explorer's pages share."""

import json
import re
from pathlib import Path
from typing import Any

from django.test import Client

from benchmark.models import Run
from tests.support.rows import run_row
from tests.support.transcripts import START, Script
from traces.contract import EventKind
from traces.models import Event, Trace
from traces.services.ingest import trace_import


def run_new(**values: Any) -> Run:
    return run_row(started_at=START, **values)


def stored(run: Run, script: Script, tmp_path: Path) -> Trace:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(script.data)
    return trace_import(run, path)


def text(client: Client, run: Run, part: str = "") -> str:
    answer = client.get(f"/runs/{run.slug}/trace/{part}")
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def rows(client: Client, run: Run, query: str) -> list[int]:
    return numbers(json.loads(text(client, run, f"rows.json?{query}"))["html"])


def numbers(html: str) -> list[int]:
    return [int(seq) for seq in re.findall(r'<li id="e\d+" class="ev [^"]*" data-seq="(\d+)"', html)]


def seq_of(trace: Trace, kind: EventKind, **facts: Any) -> int:
    return Event.objects.filter(trace=trace, kind=kind, **facts).order_by("seq")[0].seq
