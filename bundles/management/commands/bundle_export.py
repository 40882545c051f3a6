"""`manage.py bundle_export`: a run of this platform as a bundle."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.models import Run
from bundles.export.bundle import CannotExport, bundle_export


class Command(BaseCommand):
    help = "Write a run that has ended as a bundle: its transcripts, code, summary and scores."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="the run's name, such as 20261129-0214-3f9a1c")
        parser.add_argument("-o", "--out", type=Path, help="default: <run>.zip here")
        parser.add_argument("--contact-name", default="")
        parser.add_argument("--contact-email", default="")
        parser.add_argument("--licence", default="", help="an SPDX identifier, such as CC-BY-4.0")
        parser.add_argument("--force", action="store_true", help="overwrite the file")

    def handle(self, *args: Any, **options: Any) -> None:
        run = Run.objects.filter(slug=options["run"]).first()
        if run is None:
            raise CommandError(f"There is no run {options['run']}.")
        out: Path = options["out"] or Path(f"{run.slug}.zip")
        if out.exists() and not options["force"]:
            raise CommandError(f"{out} exists; --force overwrites it.")
        contact = {name: options[f"contact_{name}"] for name in ("name", "email") if options[f"contact_{name}"]}
        part = out.with_name(out.name + ".part")
        try:
            with part.open("wb") as file:
                report = bundle_export(run=run, into=file, details={"contact": contact, "licence": options["licence"]})
            part.replace(out)
        except (CannotExport, OSError) as error:
            raise CommandError(str(error)) from error
        finally:
            part.unlink(missing_ok=True)
        for note in report.notes:
            self.stderr.write(note)
        self.stdout.write(f"{out}: {report.files} files, {out.stat().st_size} bytes")
