"""Plays a worker in a process of its own: reads one JSON command a line, answers each with a line when it is committed.

`{"do": "run"}` · `{"do": "score", "value": 65.2}` · `{"do": "reject", "message": "…"}` · `{"do": "log", "text": "…"}` ·
`{"do": "end"}`. The answer is `{"slug": …, "seq": …, "at": epoch seconds}`.
"""

import json
import sys
import time
from typing import Any

import django

django.setup()

from benchmark.models import AgentLog, Run, RunState  # noqa: E402  (needs the application registry)
from benchmark.services.doorbell import doorbell_ring, group_of  # noqa: E402
from benchmark.services.runs import run_move  # noqa: E402
from grading.models import SubmissionState  # noqa: E402
from tests.browser.sample_runs import baseline_make, run_make, submission_make  # noqa: E402


def run_new() -> Run:
    run = run_make(elapsed_s=60, task="arithmetic")
    baseline_make(run, 10.1)
    return run


def do(run: Run, command: dict[str, Any]) -> None:
    match command["do"]:
        case "score":
            submission_make(run, score=command["value"])
        case "reject":
            submission_make(run, SubmissionState.REJECTED, code="E_TEST", message=command["message"])
        case "log":
            log, _ = AgentLog.objects.get_or_create(run=run)
            log.tail, log.size = log.tail + command["text"], log.size + len(command["text"])
            log.save()
            doorbell_ring(group_of(run.pk))
        case "end":
            run_move(run.pk, before=RunState.RUNNING, after=RunState.FINISHING, outcome=RunState.FINISHED)
            run_move(run.pk, before=RunState.FINISHING, after=RunState.FINISHED)


def main() -> None:
    run = None
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "run" or run is None:
            run = run_new()
        do(run, command)
        run.refresh_from_db()
        print(json.dumps({"slug": run.slug, "seq": run.event_seq, "at": time.time()}), flush=True)


if __name__ == "__main__":
    main()
