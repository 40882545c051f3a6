"""The other process of the explorer's tests: reads commands, one JSON object a line, and stores transcripts."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from benchmark.models import Run, RunState  # noqa: E402
from tests.browser.sample_runs import baseline_make, run_make, submission_make  # noqa: E402
from tests.support.transcripts import START, Script, long, telling  # noqa: E402
from traces.services.ingest import TraceIngest, trace_import, trace_open  # noqa: E402


class Live:
    """A transcript that is being written."""

    def __init__(self, run: Run) -> None:
        self.script, self.waiting = Script(), ""
        self.ingest = TraceIngest(trace_open(run, name="live.jsonl"))

    def grow(self, calls: int) -> None:
        for number in range(calls):
            self.script.call("Bash", {"command": f"echo {number}"}, f"live {number}")
        self.flush()

    def flush(self) -> None:
        self.ingest.feed(self.script.data)
        self.script.lines.clear()
        self.ingest.flush()


def imported(run: Run, parts: Iterable[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "transcript.jsonl"
        with path.open("wb") as file:
            file.writelines(parts)
        trace_import(run, path)


def parts_of(command: dict[str, Any]) -> Iterable[bytes]:
    if command["do"] == "long":
        return long(command["calls"], colours=command.get("colours", False))
    return [telling().data if command["do"] == "telling" else b""]


def do(command: dict[str, Any], live: Live | None) -> tuple[Run | None, Live | None]:
    match command["do"]:
        case "telling" | "long" | "none" | "empty":
            run = run_make(state=RunState.FINISHED, task="arithmetic")
            Run.objects.filter(pk=run.pk).update(started_at=START)
            if command["do"] != "none":
                imported(run, parts_of(command))
            return run, live
        case "graded":
            run = run_make(state=RunState.FINISHED, budget_s=3600)
            Run.objects.filter(pk=run.pk).update(started_at=START)
            run.refresh_from_db()
            baseline_make(run, 10.2)
            submission_make(run, score=20.5, elapsed_s=240)
            submission_make(run, score=10.0, elapsed_s=360)
            imported(run, [telling().data])
            return run, live
        case "open":
            run = run_make(task="arithmetic")
            live = Live(run)
            live.grow(command["calls"])
            return run, live
    assert live is not None
    match command["do"]:
        case "grow":
            live.grow(command["calls"])
        case "call":
            live.waiting = live.script.call("Bash", {"command": "sleep"}, None)
            live.flush()
        case "answer":
            live.script.answer(live.waiting, "slept at last")
            live.flush()
        case "seal":
            live.ingest.finish()
            live.ingest.close()
    return None, live


def main() -> None:
    live: Live | None = None
    for line in sys.stdin:
        run, live = do(json.loads(line), live)
        print(json.dumps({"slug": run.slug if run else ""}), flush=True)


if __name__ == "__main__":
    main()
