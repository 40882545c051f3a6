"""`manage.py trace_import`: read transcripts into a run, or say what they hold."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.models import Run
from traces.reading.reader import Reader
from traces.reading.summary import Summary
from traces.services.ingest import CHUNK, trace_import
from traces.services.ingest_runs import run_for_transcript

HEADER = (
    *("file", "dialect", "bytes", "lines", "records", "events", "joined", "calls", "answered"),
    *("tokens in", "out", "cost", "raw", "recovered", "masked", "declares"),
)
UNKNOWN = "?"


class Command(BaseCommand):
    help = "Read transcripts of any known dialect into a run, or with --dry-run only say what they hold."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="+", type=Path)
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--run", default="", help="the id of the run that the transcripts belong to")
        where.add_argument(
            "--new", action="store_true", help="make a run of origin external for them; none where one fails"
        )
        parser.add_argument("--task", default="", help="with --new: the run's task")
        parser.add_argument("--base-model", default="", help="with --new: the run's base model")
        parser.add_argument("--dry-run", action="store_true", help="store nothing")
        parser.add_argument("--table", action="store_true", help="with --dry-run: one line a file")
        parser.add_argument(
            "--secret-env", action="append", default=[], metavar="NAME", help="mask this variable's value"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        secrets = [value for name in options["secret_env"] if (value := os.environ.get(name))]
        missing = [str(path) for path in options["file"] if not path.is_file()]
        if missing:
            raise CommandError(f"There is no file {', '.join(missing)}.")
        try:
            if options["dry_run"]:
                self._tell(options["file"], secrets, table=options["table"])
            else:
                self._import(options, secrets)
        except (OSError, ValueError) as error:
            raise CommandError(str(error)) from error

    def _import(self, options: dict[str, Any], secrets: list[str]) -> None:
        if options["run"]:
            run = Run.objects.filter(slug=options["run"]).first()
            if run is None:
                raise CommandError(f"There is no run {options['run']}.")
        elif options["new"]:
            if not options["task"] or not options["base_model"]:
                raise CommandError("--new needs --task and --base-model: a run is of one task and one base model.")
            run = run_for_transcript(task=options["task"], base_model=options["base_model"])
        else:
            raise CommandError("Name the run with --run ID, or make one with --new; --dry-run stores nothing.")
        try:
            self._read(run, options["file"], secrets)
            if options["new"]:
                run_for_transcript(run=run)
        except BaseException:
            if options["new"]:
                run.delete()
            raise

    def _read(self, run: Run, paths: list[Path], secrets: list[str]) -> None:
        for path in paths:
            trace = trace_import(run, path, secrets=secrets)
            self.stdout.write(
                f"{run.slug} trace {trace.pk}: {trace.dialect or 'text'}, {trace.event_count} events "
                f"({trace.raw_count} raw) from {trace.line_count} lines, {trace.masked_count} secrets masked"
            )

    def _tell(self, paths: list[Path], secrets: list[str], *, table: bool) -> None:
        rows: list[tuple[str, ...]] = [HEADER] if table else []
        for path in paths:
            reader = Reader(secrets=secrets)
            with path.open("rb") as source:
                while data := source.read(CHUNK):
                    reader.feed(data)
            for _ in reader.finish():
                pass
            if table:
                rows.append(told(path, reader))
            else:
                self.stdout.write(f"{path}: {reader.summary.as_data()}")
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))] if rows else []
        for row in rows:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def told(path: Path, reader: Reader) -> tuple[str, ...]:
    """One line of the table."""
    summary = reader.summary
    tokens, cost, calls = summary.tokens, summary.cost, summary.kinds["tool_call"]
    numbers = (
        *(path.stat().st_size, reader.line - 1, summary.records, summary.events, summary.merged),
        *(calls, calls - summary.unanswered, tokens.input, tokens.output),
        UNKNOWN if cost is None else f"{cost:.4f}",
        *(summary.kinds["raw"], summary.recovered, reader.stream.masked),
    )
    cells = (UNKNOWN if number is None else str(number) for number in numbers)
    return (path.name, ",".join(summary.dialects) or "text", *cells, declared(summary))


def declared(summary: Summary) -> str:
    """What the transcript says that it holds, beside what was found."""
    stored = summary.stored
    return ", ".join(f"{name} {count} (found {stored[name]})" for name, count in summary.declared.items()) or "-"
