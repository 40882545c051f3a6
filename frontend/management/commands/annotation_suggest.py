"""Suggest failure types for ended runs, by rules and, where configured and asked for, by a language model."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from benchmark.models import Run
from grading.services.annotation_suggest import run_suggest
from traces.services.annotation_suggestions import SuggesterFault


class Command(BaseCommand):
    help = "Store suggested failure types of runs. People see them after they have submitted labels of their own."

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--run", help="the id of one run")
        which.add_argument("--queue", help="the name of a labelling queue")
        parser.add_argument("--llm", action="store_true", help="ask the model of AGENT2_SUGGESTER_URL as well")

    def handle(self, *args: Any, run: str | None, queue: str | None, llm: bool, **options: Any) -> None:
        if llm and not settings.SUGGESTER_URL:
            raise CommandError("Set AGENT2_SUGGESTER_URL and AGENT2_SUGGESTER_MODEL first.")
        runs = list(Run.objects.filter(slug=run) if run else Run.objects.filter(labelling_queues__name=queue))
        if not runs:
            raise CommandError(f"There is no run {run}." if run else f"There is no queue {queue}, or it is empty.")
        failed = sum(not self._suggest(each, llm) for each in runs)
        if failed:
            raise CommandError(f"{failed} of {len(runs)} runs got no suggestion; ask again later.")

    def _suggest(self, run: Run, llm: bool) -> bool:
        if not run.terminal:
            self.stderr.write(f"{run.slug}: has not ended")
            return False
        try:
            found = run_suggest(run, with_llm=llm)
        except SuggesterFault as fault:
            self.stderr.write(f"{run.slug}: {fault}")
            return False
        told = [f"{each.source}: {each.failure_type or 'none'}" for each in found]
        self.stdout.write(f"{run.slug}: {', '.join(told)}")
        return True
