"""`manage.py regrade`: grade a submission's checkpoint again, to see how far its score repeats."""

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from grading.models import Submission
from grading.services.repeating import evaluation_repeat


class Command(BaseCommand):
    help = "Queue further evaluations of one submission's files; the score that counts stays."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="the run's id")
        parser.add_argument("number", type=int, help="the submission's")
        parser.add_argument("--times", type=int, default=1)

    def handle(self, *args: Any, **options: Any) -> None:
        rows = Submission.objects.filter(run__slug=options["slug"], number=options["number"])
        submission = rows.select_related("evaluation__verdict").first()
        if submission is None or submission.evaluation is None:
            raise CommandError(f"Run {options['slug']} has no submission {options['number']} that was graded here.")
        try:
            count = evaluation_repeat(evaluation=submission.evaluation, times=options["times"], actor=None)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(f"{count} repeats of {options['slug']} #{options['number']}, done or waiting")
