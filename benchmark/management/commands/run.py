"""`manage.py run`: start a run and follow it."""

import re
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from benchmark.models import EventKind, Mode, Run, RunState
from benchmark.services.audit import audit_record
from benchmark.services.execution import run_drive
from benchmark.services.holding import run_claim
from benchmark.services.runs import run_cancel, run_create

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: str) -> int:
    """`90`, `90s`, `30m`, `12h` or `1d` in seconds. Raises: ValueError."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s*([smhd]?)", text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no duration: write 90s, 30m, 12h or 1d.")
    return round(float(match[1]) * UNITS[match[2] or "s"])


class Command(BaseCommand):
    help = "Start a run, and follow it to its end; exit 1 if it fails. A worker drives it, unless --here is given."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--agent", required=True)
        parser.add_argument("--task", required=True, action="append", help="again for each task of a multi run")
        parser.add_argument("--base-model", required=True, help="tiny, an absolute folder, or a hub id")
        parser.add_argument("--driver", default="", help="the LLM inside the agent; default: the agent's first")
        parser.add_argument("--mode", default=Mode.FREE, help="free, sft-only, rl-oriented or multi")
        parser.add_argument("--budget", default="12h", help="wall clock: 90s, 30m, 12h, 1d")
        parser.add_argument("--tokens", type=int, help="the driver's budget of tokens; default: the deployment's")
        parser.add_argument("--cost", type=float, help="the driver's budget in US dollars; default: the deployment's")
        parser.add_argument("--resumes", type=int, default=0, help="how often to start an agent again that ends early")
        parser.add_argument("--here", action="store_true", help="drive the agent in this process")
        parser.add_argument("--detach", action="store_true", help="do not follow")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            run = run_create(
                agent=options["agent"],
                tasks=options["task"],
                base_model=options["base_model"],
                driver=options["driver"],
                mode=options["mode"],
                budget_s=seconds(options["budget"]),
                token_budget=options["tokens"],
                cost_budget_usd=options["cost"],
                resumes=options["resumes"],
            )
            audit_record(actor=None, action="run.start", subject=run, by="manage.py run")
        except ValidationError as error:
            raise CommandError(
                "\n".join(f"{field}: {' '.join(texts)}" for field, texts in error.message_dict.items())
            ) from error
        except ValueError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{settings.PUBLIC_URL}/runs/{run.slug}/")
        if options["here"] and (hold := run_claim(run.pk)):
            run_drive(hold)
        if not options["detach"]:
            self._follow(run)

    def _follow(self, run: Run) -> None:
        seen = 0
        try:
            while True:
                for event in run.events.filter(seq__gt=seen).order_by("seq"):
                    seen = event.seq
                    if line := told(event.kind, event.data):
                        self.stdout.write(f"{event.at:%H:%M:%S} {line}")
                run.refresh_from_db()
                if run.terminal and run.event_seq == seen:
                    break
                time.sleep(0.5)
        except KeyboardInterrupt:
            if run_cancel(run):
                audit_record(actor=None, action="run.cancel", subject=run, by="manage.py run")
            self.stderr.write("cancelling")
            return
        if run.state == RunState.FAILED:
            raise CommandError(f"The run failed, {run.fault_code}: {run.fault_detail}")


def told(kind: str, data: dict[str, Any]) -> str:
    """One event in one line; empty for what is not worth a line."""
    if kind == EventKind.RUN_STATE:
        return f"run {data['state']} {data.get('fault_detail', '')}".strip()
    if kind == EventKind.RUN_STEP:
        return str(data["text"])
    if kind == EventKind.BASELINE:
        return f"baseline {data.get('task', '')} {_score(data)}".replace("  ", " ")
    if kind == EventKind.SUBMISSION:
        where = f"{data['task']} " if data.get("task") else ""
        return f"#{data['number']} {where}{data['state']} {_score(data) if data['ended_at'] else ''}".strip()
    return ""


def _score(data: dict[str, Any]) -> str:
    return f"{data['score']:.2f}" if data["score"] is not None else f"not scored: {data['code']} {data['message']}"
