"""`manage.py prune`: make room, by what is old or belongs to nobody."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand
from django.template.defaultfilters import filesizeformat

from benchmark.artifacts.contract import StorageUnavailable
from benchmark.services.artifacts_pruning import (
    PrunableObject,
    copies_prunable,
    objects_prunable,
    stored_forget,
)
from benchmark.services.pruning import Prunable, runs_prunable
from grading.services.pruning import grading_prunable
from traces.services.pruning import traces_prunable


def days(text: str) -> float:
    """Raises: ArgumentTypeError: no age."""
    if not re.fullmatch(r"\d{1,5}(\.\d+)?", text, re.ASCII):
        raise ArgumentTypeError(f"{text!r} is no number of days, from 0 on.")
    return float(text)


class Command(BaseCommand):
    help = (
        "Remove workspaces and checkpoints of runs that ended long ago, and files of runs that were deleted; with "
        "object storage also copies on this disk that it holds, and objects of what was deleted. "
        "Scores, verdicts, samples, transcripts and code of runs that exist stay. Run it on every host."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workspaces-days", type=days, default=30, help="age of runs' ends; default 30")
        parser.add_argument("--checkpoints-days", type=days, default=30, help="age of graded copies; default 30")
        parser.add_argument("--copies-days", type=days, default=7, help="age of copies of stored files; default 7")
        parser.add_argument("--best-too", action="store_true", help="also each run's best checkpoint")
        parser.add_argument("--dry-run", action="store_true", help="say what would go, and remove nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        found: tuple[Prunable | PrunableObject, ...] = (
            *runs_prunable(days=options["workspaces_days"]),
            *grading_prunable(days=options["checkpoints_days"], keep_best=not options["best_too"]),
            *traces_prunable(),
            *copies_prunable(days=options["copies_days"]),
            *self._objects(),
        )
        total, kept = 0, 0
        for each in found:
            try:
                size = each.size()
                if not options["dry_run"]:
                    each.remove()
            except (OSError, StorageUnavailable) as error:
                kept += 1
                self.stderr.write(f"{each.path} stays: {error}")
                continue
            total += size
            self.stdout.write(f"{each.path}  {filesizeformat(size)}  {each.why}")
        if not options["dry_run"]:
            stored_forget()
        if options["dry_run"]:
            self.stdout.write(f"{filesizeformat(total)} would be freed by removing {len(found)}; nothing was removed.")
        else:
            self.stdout.write(f"{filesizeformat(total)} freed, {len(found) - kept} of {len(found)} removed.")

    def _objects(self) -> tuple[PrunableObject, ...]:
        try:
            return tuple(objects_prunable())
        except StorageUnavailable as error:
            self.stderr.write(f"Objects stay: {error}")
            return ()
