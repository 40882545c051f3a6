"""Which records of grading are sealed: what object storage may hold."""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet

from benchmark.services.artifacts import artifact_path
from benchmark.services.artifacts_sources import Source
from grading.models import Baseline, Evaluation, EvaluationState, Submission


def _evaluations() -> QuerySet[Evaluation]:
    """Their records stay on the host that graded, until it stores them."""
    done = Evaluation.objects.filter(state=EvaluationState.DONE).exclude(verdict__records_sha256="")
    here = {"evaluation": OuterRef("pk"), "run__place": settings.PLACE}
    graded_here = Exists(Submission.objects.filter(**here)) | Exists(Baseline.objects.filter(**here))
    return done.filter(graded_here).select_related("verdict")


def _record_files(evaluation: Evaluation) -> Mapping[Path, str]:
    verdict = evaluation.verdict
    assert verdict is not None
    return {artifact_path(verdict.records): verdict.records_sha256}


SOURCES = (Source("records", "pk", _evaluations, _record_files),)
