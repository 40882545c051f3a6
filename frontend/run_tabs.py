"""The tabs of a run's page: each a page of its own."""

from dataclasses import dataclass
from urllib.parse import quote

from django.urls import reverse

from benchmark.models import Run


@dataclass(frozen=True)
class Tab:
    """`count` stands beside its title, None: nothing is counted."""

    name: str
    title: str
    link: str
    count: int | None = None


TABS = (
    ("run", "Overview"),
    ("run-curve-tab", "Curve"),
    ("run-submissions", "Submissions"),
    ("trace", "Trace"),
    ("run-routes", "Routes and failures"),
    ("run-artifacts", "Artifacts"),
    ("run-integrity", "Integrity"),
    ("run-configuration", "Configuration"),
)


def tabs_of(
    run: Run, *, events: int | None = None, submissions: int | None = None, annotates: bool = False, task: str = ""
) -> list[Tab]:
    """`annotates`: whether the reader labels runs, which ended runs alone can be. `task`: of several, the shown one."""
    query = f"?task={quote(task, safe='')}" if task and run.task_list else ""
    counts = {"run-submissions": submissions or None, "trace": events}
    found = [Tab(name, title, reverse(name, args=[run.slug]) + query, counts.get(name)) for name, title in TABS]
    if annotates and run.terminal:
        found.append(Tab("run-annotate", "Annotate", reverse("run-annotate", args=[run.slug]) + query))
    return found
