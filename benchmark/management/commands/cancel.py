"""`manage.py cancel`: end runs."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.models import Run
from benchmark.services.audit import audit_record
from benchmark.services.runs import run_cancel


class Command(BaseCommand):
    help = "Ask for the end of one or more runs, by their ids."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="+")

    def handle(self, *args: Any, **options: Any) -> None:
        for slug in options["slug"]:
            run = Run.objects.filter(slug=slug).first()
            if run is None:
                raise CommandError(f"There is no run {slug}.")
            asked = run_cancel(run)
            if asked:
                audit_record(actor=None, action="run.cancel", subject=run, by="manage.py cancel")
            run.refresh_from_db()
            self.stdout.write(f"{slug}: {'cancelling' if asked else run.get_state_display()}")
