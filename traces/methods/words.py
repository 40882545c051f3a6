"""The words of method labels: methods, routes, confidence, and the evidence behind each."""

from dataclasses import dataclass
from enum import StrEnum


class Method(StrEnum):
    """How one submission's checkpoint was made."""

    SFT = "SFT"
    RFT = "RFT"
    DPO = "DPO"
    KTO = "KTO"
    ORPO = "ORPO"
    GRPO = "GRPO"
    PPO = "PPO"
    OTHER_RL = "other RL"
    DISTILLATION = "distillation"
    MERGING = "merging"
    COPY = "copy"
    NONE = "none found"


SUPERVISED = frozenset({Method.SFT, Method.RFT})
PREFERENCE = frozenset({Method.DPO, Method.KTO, Method.ORPO})
POLICY_GRADIENT = frozenset({Method.GRPO, Method.PPO, Method.OTHER_RL})
TRAINED = SUPERVISED | PREFERENCE | POLICY_GRADIENT | {Method.DISTILLATION, Method.MERGING}


class Route(StrEnum):
    """The run-level label of the paper's table 8, and `Other` for what it does not name."""

    GRPO = "GRPO"
    PPO = "PPO"
    SFT_ONLY = "SFT-only"
    SFT_RL = "SFT+RL"
    COPY = "Copy"
    MISSING = "Placeholder/Missing"
    OTHER = "Other"


class Confidence(StrEnum):
    """`certain` without a doubt, `probable` with one, `possible` with more."""

    CERTAIN = "certain"
    PROBABLE = "probable"
    POSSIBLE = "possible"

    @classmethod
    def with_doubts(cls, count: int) -> "Confidence":
        return (cls.CERTAIN, cls.PROBABLE, cls.POSSIBLE)[min(count, 2)]


@dataclass(frozen=True)
class Evidence:
    """Where something was seen. `file` is relative to the folder; `line` counts from 1."""

    file: str
    line: int | None
    why: str


@dataclass(frozen=True)
class MethodFinding:
    """One step of the pipeline that made the checkpoint."""

    method: Method
    evidence: Evidence
    doubts: tuple[str, ...] = ()

    @property
    def confidence(self) -> Confidence:
        return Confidence.with_doubts(len(self.doubts))


@dataclass(frozen=True)
class MethodReport:
    """The label of one submission.

    `methods` are in pipeline order without repeats, `primary` is the last of them. `files_read` of `files_seen` code
    files were read; `notes` name what could not be read or judged.
    """

    methods: tuple[Method, ...]
    findings: tuple[MethodFinding, ...]
    notes: tuple[Evidence, ...]
    files_read: int
    files_seen: int
    trains_unknown: bool = False
    """Whether weights are trained by something whose method could not be told."""

    @property
    def primary(self) -> Method:
        return self.methods[-1] if self.methods else Method.NONE

    @property
    def confidence(self) -> Confidence | None:
        """The best of the primary method's findings; `None` when no method was found."""
        found = [each for each in self.findings if each.method is self.primary]
        return Confidence.with_doubts(min(len(each.doubts) for each in found)) if found else None
