"""`manage.py worker`: a Celery worker that first says whether it can work."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from benchmark.services.queueing import place_queue
from benchmark.services.worker_check import worker_notices, worker_problems

KNOWN = {"default", "agents", "grading"}
SPARE_THREADS = 10
"""For intake and sweeps, beside one thread a slot. Jobs wait for sandboxed processes, so threads serve."""


class Command(BaseCommand):
    help = "Start a worker for the given queues. It refuses to start where it could not work."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--queues", default="default,agents,grading")
        parser.add_argument(
            "--beat", action="store_true", help="also send the periodic jobs; on in the embedded default"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        queues = options["queues"]
        if unknown := set(queues.split(",")) - KNOWN:
            raise CommandError(f"There is no queue {min(unknown)!r}; known are {', '.join(sorted(KNOWN))}.")
        if problems := worker_problems(set(queues.split(","))):
            raise CommandError("This worker cannot work:\n" + "\n".join(f"- {problem}" for problem in problems))
        for notice in worker_notices(set(queues.split(","))):
            self.stderr.write(f"This worker does not grade everything: {notice}")
        if settings.PLACE:
            queues = f"{queues},{place_queue(settings.PLACE)}"
        threads = settings.AGENT_SLOTS + settings.GRADING_SLOTS + SPARE_THREADS
        command = [sys.executable, "-m", "celery", "-A", "config", "worker", "-Q", queues, "--pool", "threads"]
        command += [
            "--concurrency",
            str(threads),
            "--loglevel",
            "INFO",
            "--without-mingle",
            "--without-gossip",
        ]
        if settings.EMBEDDED or options["beat"]:
            command.append("-B")
        os.execv(sys.executable, command)  # noqa: S606  (fixed arguments)
