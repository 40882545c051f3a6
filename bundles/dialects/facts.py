"""One structure for a run, whoever wrote it down. What a source does not say is None or empty, never guessed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass
class Claim:
    """One submission as its source tells it. Scores are 0 to 100; None is not scored."""

    number: int
    task: str = ""
    at: datetime | None = None
    """UTC."""
    elapsed_s: float | None = None
    """Seconds of the budget used."""
    model_path: str = ""
    score: float | None = None
    standard_error: float | None = None
    """Of the score, in points."""
    stated: Any = None
    """What stands in the source where a score should."""
    error: str = ""
    error_code: str = ""
    digest: str = ""
    """Of the checkpoint, as this platform counts it: SHA-256, hexadecimal."""
    grading_s: float | None = None
    baseline: float | None = None
    improvement: float | None = None
    tokens: int | None = None
    same_as: int | None = None
    """Number of the submission whose checkpoint it repeats."""
    method: str = ""


@dataclass
class RunFacts:
    """What a run directory says of its run. Paths are relative to the bundle's top; times are UTC."""

    layout: str
    root: str = ""
    run: str = ""
    """Its name where it was made."""
    task: str = ""
    tasks: list[str] = field(default_factory=list)
    protocol: str = ""
    agent: str = ""
    agent_version: str = ""
    driver: str = ""
    driver_version: str = ""
    base_model: str = ""
    base_revision: str = ""
    base_digest: str = ""
    mode: str = ""
    budget_s: float | None = None
    used_s: float | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str = ""
    exit_code: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    hardware: dict[str, Any] = field(default_factory=dict)
    seeds: list[int] = field(default_factory=list)
    baselines: dict[str, float] = field(default_factory=dict)
    submissions: list[Claim] = field(default_factory=list)
    claimed_best: float | None = None
    claimed_improvement: float | None = None
    claimed_count: int | None = None
    metrics: dict[str, Any] = field(default_factory=dict)
    """The source's own process metrics."""
    transcripts: list[str] = field(default_factory=list)
    code: dict[int, dict[str, str]] = field(default_factory=dict)
    """Submission's number (0: as it was at the end) → name below `code/` → path."""
    logs: list[str] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    contact: dict[str, str] = field(default_factory=dict)
    licence: str = ""
    redactions: list[dict[str, Any]] = field(default_factory=list)
    ignored: dict[str, str] = field(default_factory=dict)
    """Path → why it was left aside."""
    understood: dict[str, str] = field(default_factory=dict)
    """Path → what was read from it, in a few words."""
    manifest: dict[str, Any] = field(default_factory=dict)
    """The manifest without its list of files, where there is one."""

    @property
    def scored(self) -> list[Claim]:
        return [claim for claim in self.submissions if claim.score is not None]

    @property
    def best(self) -> Claim | None:
        """The earliest of the highest scores."""
        return max(self.scored, key=lambda claim: (claim.score or 0.0, -claim.number), default=None)
