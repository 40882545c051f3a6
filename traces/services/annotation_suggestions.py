"""Failure types that something other than a person suggests. Nothing turns a suggestion into a label."""

from collections.abc import Sequence
from typing import Protocol

from django.db import transaction
from django.utils import timezone

from benchmark.models import Run
from traces.methods.failures import FailureSuggestion, FailureType, RunFacts, failure_suggestions
from traces.models import Suggestion
from traces.services.ingest_rows import storable

SYMPTOMS = {
    FailureType.ROLLOUT: "the environment loop is incomplete or never yields usable trajectories",
    FailureType.REWARD_DATA: "data or reward too sparse, brittle or misaligned to help",
    FailureType.COLLAPSE: "later submissions regress, or fail to load or be evaluated",
    FailureType.EARLY_CODING: "the run ends before real training code or a valid submission",
    FailureType.STATIC_SHORTCUT: "a static route works, and does not carry over to interaction",
}
"""Of the paper's table 10, in short."""


class SuggesterFault(Exception):
    """The suggester, not the run, is at fault: it could not be reached or its answer cannot be read."""


class Suggester(Protocol):
    """Rules, or a language model."""

    @property
    def source(self) -> str:
        """Its name in rows, `rules` or `llm:…`."""
        ...

    def suggest(self, run: Run, facts: RunFacts) -> Sequence[FailureSuggestion]:
        """Failure types with evidence, the surer first; none is an answer. Raises: SuggesterFault."""
        ...


class RuleSuggester:
    """The rules of `traces.methods.failures`."""

    source = "rules"

    def suggest(self, run: Run, facts: RunFacts) -> Sequence[FailureSuggestion]:
        return failure_suggestions(facts)


def suggestions_store(*, run: Run, suggester: Suggester, facts: RunFacts) -> list[Suggestion]:
    """Ask and store; what equals the source's last answer is not stored again.

    Raises: SuggesterFault: nothing was stored.
    """
    found = [
        (each.type.value, each.confidence.value, [storable(line) for line in each.evidence])
        for each in suggester.suggest(run, facts)
    ] or [("", "", [])]
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=run.pk)
        known = list(Suggestion.objects.filter(run=run, source=suggester.source).order_by("id"))
        last = [each for each in known if each.created_at == known[-1].created_at]
        if [(each.failure_type, each.confidence, each.evidence) for each in last] == found:
            return last
        now = timezone.now()
        return [
            Suggestion.objects.create(
                run=run, source=suggester.source, failure_type=kind, confidence=sure, evidence=told, created_at=now
            )
            for kind, sure, told in found
        ]
