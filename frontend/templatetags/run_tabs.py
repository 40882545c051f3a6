"""The tabs of a run's page, wherever they stand."""

from typing import Any

from django import template

from benchmark.models import Run
from frontend.run_tabs import Tab, tabs_of

register = template.Library()


@register.simple_tag(takes_context=True)
def tabs_for(context: dict[str, Any], run: Run) -> list[Tab]:
    """With the numbers of events and of the shown task's submissions where the page knows them."""
    page = context.get("page")
    trace, points = getattr(page, "trace", None), getattr(page, "points", None)
    whole = None if run.task_list else run.submission_count
    user, asked = context["request"].user, context["request"].GET.get("task", "")
    return tabs_of(
        run,
        events=trace.event_count if trace else None,
        submissions=whole if points is None else len(points),
        annotates=user.has_perm("traces.annotate"),
        task=asked if asked in run.tasks else "",
    )
