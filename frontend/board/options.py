"""What the filters can be set to: what there is, and what is chosen even when there is no such thing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmark.models import Mode, Origin, Run, Trust
from frontend.agent_titles import agent_title
from frontend.board.filters import Filters
from frontend.board.grouping import short
from frontend.board.known_tasks import LEVEL_WORDS, task_title
from frontend.board.parameters import VERIFIED, budget_text, budget_words
from frontend.board.parts import Part
from grading.models import TaskStanding

OFFERED_MOST = 200
"""Values of one filter in its list; others can still be asked for in the address."""
TRUST_LABELS = {
    Trust.CHECKED: "checked or better",
    Trust.REVIEWED: "reviewed or better",
    Trust.REGRADED: "graded by this platform",
}
ORIGINS = {Origin.LOCAL: "run here", Origin.EXTERNAL: "uploaded bundle", Origin.PUBLISHED: "published in a paper"}


@dataclass(frozen=True)
class Option:
    """One filter of the form."""

    name: str
    label: str
    everything: str
    """What it says when nothing is chosen."""
    values: tuple[tuple[str, str], ...]
    chosen: tuple[str, ...]


def options_of(filters: Filters, parts: Sequence[Part] | None = None) -> dict[str, Option]:
    """By parameter name. Two queries; none where `parts` are those of a board that nothing narrows."""
    if parts is not None and not filters.narrowing:
        runs = {(p.stack.agent, p.stack.driver, p.base_model, p.stack.budget_s) for p in parts}
        protocol_tasks = {(part.protocol, part.task) for part in parts}
    else:
        runs = set(Run.objects.shown().order_by().values_list("agent", "driver", "base_model", "budget_s").distinct())
        shown = TaskStanding.objects.filter(run__hidden=False).order_by()
        protocol_tasks = set(shown.values_list("protocol", "task").distinct())
    budgets = sorted({budget for *_, budget in runs})
    found = (
        ("level", "Level", "All levels", [(level, f"{level} {words}") for level, words in LEVEL_WORDS.items()]),
        ("task", "Task", "All tasks", _titled({task for _, task in protocol_tasks}, task_title)),
        ("agent", "Agent", "All agents", _titled({agent for agent, *_ in runs}, agent_title)),
        ("driver", "Driver", "All drivers", _titled({driver for _, driver, *_ in runs})),
        ("mode", "Mode", "All modes", [(str(mode.value), str(mode.label)) for mode in Mode]),
        ("budget", "Budget", "Any", [(budget_text(budget), budget_words(budget)) for budget in budgets]),
        ("base", "Base model", "All", _titled({short(base) for _, _, base, _ in runs})),
        ("origin", "Origin", "All, kept apart", [(str(o.value), ORIGINS[o]) for o in Origin]),
        ("trust", "Verified", "Any", [(str(trust), TRUST_LABELS[trust]) for trust in VERIFIED]),
        ("protocol", "Protocol", "All, kept apart", _titled({protocol for protocol, _ in protocol_tasks})),
    )
    return {name: _option(name, label, everything, values, filters) for name, label, everything, values in found}


def _titled(values: Iterable[str], title: Callable[[str], str] = str) -> list[tuple[str, str]]:
    return sorted(((value, title(value)) for value in values), key=lambda pair: pair[1].lower())[:OFFERED_MOST]


def _option(name: str, label: str, everything: str, values: list[tuple[str, str]], filters: Filters) -> Option:
    chosen = filters.chosen.get(name, ())
    extra = [(value, value) for value in chosen if value not in dict(values)]
    return Option(name, label, everything, (*values, *extra), chosen)
