"""Suggested failure types from what this platform knows of a run."""

from django.conf import settings
from django.contrib.auth.models import User

from benchmark.models import Run
from grading.services.records import run_account
from traces.models import Suggestion
from traces.services.annotation_llm import LlmSuggester
from traces.services.annotation_reading import suggestions_for
from traces.services.annotation_suggestions import RuleSuggester, Suggester, suggestions_store


def suggesters(*, with_llm: bool) -> list[Suggester]:
    """The rules; and the language model, where it is asked for and configured."""
    found: list[Suggester] = [RuleSuggester()]
    if with_llm and settings.SUGGESTER_URL:
        found.append(
            LlmSuggester(url=settings.SUGGESTER_URL, model=settings.SUGGESTER_MODEL, key=settings.SUGGESTER_KEY)
        )
    return found


def run_suggest(run: Run, *, with_llm: bool = False) -> list[Suggestion]:
    """Store what is suggested for an ended run. Raises: SuggesterFault: what came before it is stored."""
    facts = run_account(run).facts
    asked = suggesters(with_llm=with_llm)
    return [row for each in asked for row in suggestions_store(run=run, suggester=each, facts=facts)]


def suggestions_reveal(user: User, run: Run) -> list[Suggestion]:
    """What the user may see of an ended run's suggestions, and now has seen; the rules are asked on the first look."""
    if run.terminal and not Suggestion.objects.filter(run=run, source=RuleSuggester.source).exists():
        run_suggest(run)
    return suggestions_for(user, run)
