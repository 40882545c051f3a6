"""Which records of grading are sealed: what object storage may hold."""

from collections.abc import Mapping
from pathlib import Path

from django.db.models import QuerySet

from benchmark.services.artifacts import artifact_path
from benchmark.services.artifacts_sources import Source
from grading.models import Evaluation, EvaluationState


def _evaluations() -> QuerySet[Evaluation]:
    """Their records stay on the host that graded, until it stores them."""
    return Evaluation.objects.filter(state=EvaluationState.DONE).exclude(verdict__records="").select_related("verdict")


def _record_files(evaluation: Evaluation) -> Mapping[Path, str]:
    verdict = evaluation.verdict
    assert verdict is not None
    return {artifact_path(verdict.records): verdict.records_sha256}


SOURCES = (Source("records", "pk", _evaluations, _record_files),)
