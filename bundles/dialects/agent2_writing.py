"""A run's facts as a manifest: `agent2.agent2_read` reads the same facts from it."""

from __future__ import annotations

from typing import Any

from bundles.dialects.facts import Claim, RunFacts
from bundles.dialects.values import iso
from bundles.format.words import FORMAT, MODES, OUTCOMES, VERSION

KEPT = ("hardware", "seeds", "baselines", "contact", "redactions")


def manifest_of(run: RunFacts, files: list[dict[str, Any]], *, layout: str, created_by: str) -> dict[str, Any]:
    """Members that would say nothing are left out. `files` are entries of the list of files."""
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "layout": layout,
        "created_by": created_by,
        "run": run.run,
        "task": run.task,
        "tasks": run.tasks if run.tasks != [run.task] else [],
        "protocol": run.protocol,
        "agent": filled({"name": run.agent, "version": run.agent_version}),
        "driver": filled({"name": run.driver, "version": run.driver_version}),
        "base_model": filled({"name": run.base_model, "revision": run.base_revision, "digest": run.base_digest}),
        "mode": run.mode if run.mode in MODES else "",
        "budget_s": run.budget_s,
        "used_s": run.used_s,
        "started_at": iso(run.started_at),
        "ended_at": iso(run.ended_at),
        "outcome": run.outcome if run.outcome in OUTCOMES else "",
        "tokens": run.tokens,
        "cost_usd": run.cost_usd,
        "best": run.claimed_best if run.claimed_best is not None else (run.best.score if run.best else None),
        "licence": run.licence,
        **{name: getattr(run, name) for name in KEPT},
    }
    manifest = filled(manifest)
    manifest["submissions"] = [_submission(claim) for claim in run.submissions]
    manifest["files"] = files
    if "name" not in manifest.get("driver", {"name": ""}):
        del manifest["driver"]
    return manifest


def _submission(claim: Claim) -> dict[str, Any]:
    told = filled(
        {
            "task": claim.task,
            "at": iso(claim.at),
            "elapsed_s": claim.elapsed_s,
            "model_path": claim.model_path,
            "standard_error": claim.standard_error,
            "improvement": claim.improvement,
            "error": claim.error,
            "error_code": claim.error_code,
            "digest": claim.digest,
            "grading_s": claim.grading_s,
            "tokens": claim.tokens,
            "same_as": claim.same_as,
            "method": claim.method,
        }
    )
    return {"number": claim.number, "score": claim.score, **told}


def filled(values: dict[str, Any]) -> dict[str, Any]:
    """Without what is None or empty; 0 is a value."""
    return {name: value for name, value in values.items() if value is not None and value not in ("", [], {})}
