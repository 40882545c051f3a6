"""The formats of `frontend.formats`, for templates."""

from typing import Any

from django import template

from frontend import formats
from frontend.agent_titles import agent_title
from frontend.best_so_far import Point
from frontend.run_methods import MethodCell
from frontend.run_page import RunPage
from frontend.run_titles import run_title, tasks_titled

register = template.Library()
for _name in ("score", "gain", "direction", "clock", "ago", "count", "plural", "within_noise", "heat"):
    register.filter(_name, getattr(formats, _name))
register.filter("agent_title", agent_title)
register.filter("run_title", run_title)
register.filter("tasks_titled", tasks_titled)
register.filter("hours", formats.hours)
register.filter("length_of", formats.length)


@register.filter
def state_class(state: str) -> str:
    """The CSS class of a state."""
    return state.replace("_", "-")


@register.filter
def gain_in(point: Point, page: RunPage) -> float | None:
    """A submission's score minus its run's baseline."""
    return page.gain(point.score)


@register.filter
def method_in(point: Point, page: RunPage) -> MethodCell | None:
    """A submission's method, its switch and its code."""
    return page.methods.get(point.submission.number)


@register.filter
def warnings_of(point: Point) -> list[dict[str, Any]]:
    """What is odd about a scored checkpoint, from its intake and its verdict."""
    verdict = point.submission.verdict
    if point.score is None or verdict is None:
        return []
    return [*verdict.warnings, *point.submission.intake.get("warnings", [])]
