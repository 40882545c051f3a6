"""Starting a run."""

import re
from typing import Any

from django import forms

from benchmark.catalogue import Task, agents, tasks
from benchmark.models import Mode, Run
from benchmark.services.needs import needs_missing
from benchmark.services.runs import RESUMES_MAX, TOKENS_MAX, USD_MAX
from frontend.run_cost import RunCost, run_cost

RUNS_MOST = 10
"""That one form starts."""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
BUDGET = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*(s|m|h|d)(?:[a-z]*)\s*", re.IGNORECASE)


def budget_seconds(text: str) -> int:
    """`90s`, `10m`, `1h 30m`, `12h` to seconds.

    Raises: ValueError: anything else.
    """
    parts = BUDGET.findall(text.strip())
    if not parts or BUDGET.sub("", text.strip()):
        raise ValueError(f"{text!r} is not a time")
    return round(sum(float(amount) * UNITS[unit.lower()] for amount, unit in parts))


def _label(task: Task) -> str:
    """The task, and what this deployment lacks for it."""
    missing = needs_missing(task)
    return f"{task.title}, {task.level}" + (f" (not here yet: {missing})" if missing else "")


class RunForm(forms.Form):
    """What the operator chooses; `run_create` judges it."""

    agent = forms.ChoiceField()
    task = forms.ChoiceField()
    base_model = forms.CharField(max_length=256, initial="tiny")
    driver = forms.CharField(max_length=128, required=False)
    mode = forms.ChoiceField(choices=[(mode.value, mode.label) for mode in Mode], initial=Mode.FREE.value)
    tasks = forms.MultipleChoiceField(required=False)
    """Beside `task`, of a multi run."""
    budget = forms.CharField(max_length=40, initial="10m")
    token_budget = forms.IntegerField(min_value=1, max_value=TOKENS_MAX, required=False)
    cost_budget_usd = forms.FloatField(min_value=0.01, max_value=USD_MAX, required=False)
    resumes = forms.IntegerField(min_value=0, max_value=RESUMES_MAX, required=False)
    runs = forms.IntegerField(min_value=1, max_value=RUNS_MOST, initial=1, required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agent"] = forms.ChoiceField(
            choices=[(a.id, f"{a.title} {a.version}".strip()) for a in agents().values()]
        )
        known = [(t.id, _label(t)) for t in tasks().values()]
        self.fields["task"] = forms.ChoiceField(choices=known)
        self.fields["tasks"] = forms.MultipleChoiceField(choices=known, required=False)

    def clean_budget(self) -> int:
        try:
            return budget_seconds(self.cleaned_data["budget"])
        except ValueError:
            raise forms.ValidationError("Write a time such as 10m, 1h 30m or 12h.") from None

    @property
    def drivers(self) -> list[str]:
        """Every driver that an agent system names, for suggestions."""
        return sorted({driver for agent in agents().values() for driver in agent.drivers})

    def clean_runs(self) -> int:
        return int(self.cleaned_data["runs"] or 1)

    def values(self) -> dict[str, Any]:
        """The arguments of `run_create`."""
        values = dict(self.cleaned_data)
        values["budget_s"] = values.pop("budget")
        values["resumes"] = values["resumes"] or 0
        del values["runs"]
        first = values.pop("task")
        values["tasks"] = [first, *(each for each in values["tasks"] if each != first)]
        return values

    def cost(self) -> RunCost | None:
        """What the chosen runs would use; None while the fields that decide it are wrong."""
        if not self.is_bound or not self.is_valid():
            return None
        given = self.values()
        names = ("base_model", "budget_s", "agent", "driver")
        task = self.cleaned_data["task"]
        return run_cost(runs=self.cleaned_data["runs"], task=task, **{name: given[name] for name in names})


def form_like(run: Run) -> dict[str, Any]:
    """What the form is filled with to start a run like this one."""
    names = ("agent", "task", "base_model", "driver", "mode", "token_budget", "cost_budget_usd", "resumes")
    told = {name: getattr(run, name) for name in names}
    return told | {"tasks": run.tasks[1:], "budget": f"{run.budget_s}s", "runs": 1}
