"""What a person says of a run where its files are silent."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from bundles.dialects.agent2 import agent2_read
from bundles.dialects.facts import RunFacts

FILLED = frozenset(
    {"task", "tasks", "protocol", "agent", "agent_version", "driver", "driver_version", "base_model", "mode"}
    | {"base_revision", "base_digest", "budget_s", "hardware", "seeds", "baselines", "contact", "licence", "outcome"}
    | {"started_at", "ended_at", "used_s", "tokens", "cost_usd", "run"}
)


def details_applied(run: RunFacts, details: dict[str, Any]) -> RunFacts:
    """`run` with its gaps filled from members of a manifest; nothing that it says is changed."""
    if not details:
        return run
    told, _ = agent2_read(details, "")
    for each in fields(run):
        if each.name in FILLED and getattr(run, each.name) in ("", None, [], {}):
            setattr(run, each.name, getattr(told, each.name))
    for claim in run.submissions:
        claim.task = claim.task or run.task
    if "" in run.baselines and run.task:
        run.baselines[run.task] = run.baselines.pop("")
    return run
