"""`manage.py load_published`: the paper's tables as runs of origin `published`."""

from typing import Any

from django.core.management.base import BaseCommand

from frontend.formats import plural
from frontend.published.loading import published_load


class Command(BaseCommand):
    help = "Load the scores that the paper prints, as runs of their own origin. Again: mends what differs."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{plural(published_load(), 'published run')} in place.")
