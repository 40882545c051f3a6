"""`manage.py trace_export`: a stored transcript as ATIF or as JSON lines."""

import json
import sys
from argparse import ArgumentParser
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from traces.export.atif import atif
from traces.export.check import atif_faults
from traces.export.jsonl import jsonl
from traces.models import Trace


class Command(BaseCommand):
    help = "Write a stored trace as ATIF (one JSON document) or as JSON lines, one event each."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("trace", type=int, help="the trace's number, as trace_import said it")
        parser.add_argument("--format", choices=["atif", "jsonl"], default="atif")
        parser.add_argument("--out", type=Path, help="default: standard output")
        parser.add_argument("--check", action="store_true", help="ATIF: hold the file against the schema")

    def handle(self, *args: Any, **options: Any) -> None:
        trace = Trace.objects.select_related("run").filter(pk=options["trace"]).first()
        if trace is None:
            raise CommandError(f"There is no trace {options['trace']}.")
        out: Path | None = options["out"]
        if options["check"] and (out is None or options["format"] != "atif"):
            raise CommandError("--check needs --format atif and --out FILE.")
        try:
            with nullcontext(sys.stdout) if out is None else out.open("w", encoding="utf-8") as file:
                for part in (atif if options["format"] == "atif" else jsonl)(trace):
                    file.write(part)
        except OSError as error:
            raise CommandError(f"The trace could not be written: {error}") from error
        if options["check"] and out is not None:
            faults = atif_faults(json.loads(out.read_text(encoding="utf-8")))
            if faults:
                raise CommandError("\n".join(faults))
