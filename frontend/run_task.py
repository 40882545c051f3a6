"""Which of a run's tasks an address names."""

from django.http import HttpRequest

from benchmark.models import Run
from frontend.access import run_seen
from frontend.bad_query import BadQuery
from frontend.run_page import RunPage, run_page


def task_asked(request: HttpRequest, run: Run) -> str:
    """Of several tasks the one that `?task=` names, empty: none is named. Raises: BadQuery."""
    task = request.GET.get("task", "")
    if task and task not in run.tasks:
        raise BadQuery("task", f"is one of {', '.join(run.tasks)}.")
    return task


def run_page_read(request: HttpRequest, slug: str) -> RunPage:
    """The run's page on the task that is asked for. Raises: BadQuery, Http404."""
    run = run_seen(request, slug)
    return run_page(run, task_asked(request, run))
