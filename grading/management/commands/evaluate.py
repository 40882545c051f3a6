"""`manage.py evaluate`: grade a base model, or a model behind an API, on a task's held-out items."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from benchmark.catalogue import CatalogueError
from benchmark.sandbox.contract import SandboxFault
from benchmark.services.base_models import BaseModelUnavailable
from benchmark.services.protocols import protocol_is_ranked
from benchmark.tasks.data_contract import DataUnavailable
from grading.outside.search.configure import SearchNotConfigured
from grading.services.desks import NotConfigured
from grading.services.evaluating import Asked, Evaluated, model_evaluate

FAULTS = (
    ValueError,
    CatalogueError,
    NotConfigured,
    SearchNotConfigured,
    DataUnavailable,
    BaseModelUnavailable,
    SandboxFault,
)


class Command(BaseCommand):
    help = (
        "Grade a model outside of a run and print the verdict. --base-model alone grades it on this machine, "
        "--endpoint alone asks a chat API, both together ask a server of that base model with token ids (vllm serve)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--task", required=True)
        parser.add_argument("--base-model", default="", help="tiny, an absolute folder, or a hub id")
        parser.add_argument(
            "--endpoint",
            nargs="?",
            const=settings.ENDPOINT_MODEL,
            default="",
            metavar="MODEL",
            help="what the API at AGENT2_ENDPOINT_URL calls it; default: AGENT2_ENDPOINT_MODEL",
        )
        parser.add_argument("--limit", type=int, help="only the first N items: another, unranked protocol")
        parser.add_argument("--out", type=Path, help="the folder of an evaluation that stopped: it is gone on with")

    def handle(self, *args: Any, **options: Any) -> None:
        out: Path | None = options["out"]
        asked = Asked(
            task=options["task"],
            base_model=options["base_model"],
            endpoint=options["endpoint"],
            limit=options["limit"],
            folder=out.absolute() if out else None,
        )
        try:
            evaluated = model_evaluate(asked, tell=self.stderr.write)
        except FAULTS as error:
            raise CommandError(str(error)) from error
        self._print(evaluated)
        if evaluated.verdict.score is None:
            finding = evaluated.verdict.finding
            told = f"{finding.code}: {finding.message} {finding.fix}".strip() if finding else "no score"
            why = str(finding.detail.get("error", "")) if finding else ""
            if why and why not in told:
                told = f"{told} ({why})"
            raise CommandError(f"{told}\nWhat is finished is kept: go on with --out {evaluated.folder}")

    def _print(self, evaluated: Evaluated) -> None:
        verdict = evaluated.verdict
        score = "not scored" if verdict.score is None else f"{verdict.score:.2f}"
        ranked = "" if protocol_is_ranked(verdict.protocol) else " (limited, unranked)"
        lines = {
            "score": score,
            "protocol": verdict.protocol + ranked,
            "samples": f"{verdict.n_scored} of {verdict.n_expected}, {evaluated.samples}",
            "verdict": str(evaluated.folder / "verdict.json"),
            **{name: "—" if value is None else f"{value:g}" for name, value in verdict.metrics.items()},
            **verdict.versions,
        }
        self.stdout.write("".join(f"{name:<28} {value}\n" for name, value in lines.items()), ending="")
        for warning in verdict.warnings:
            self.stdout.write(f"{warning.code}: {warning.message}")
