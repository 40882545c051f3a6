"""What the intake hands back."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grading.contract import Finding


@dataclass(frozen=True)
class GradedFile:
    """One file of the private copy; `bytes` is its size."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Distance:
    """How far the weights are from the base's.

    `relative_l2` is ‖checkpoint − base‖ / ‖base‖ over the floating-point tensors, without rows added to the vocabulary.
    """

    tensors: int
    changed: int
    relative_l2: float

    @property
    def changed_share(self) -> float:
        return self.changed / self.tensors if self.tensors else 0.0


@dataclass(frozen=True)
class IntakeReport:
    """The private copy of a submitted checkpoint, or why there is none."""

    findings: tuple[Finding, ...] = ()
    digest: str | None = None
    """SHA-256 over the graded files' names and contents: neither path nor times count."""
    weights_digest: str | None = None
    """SHA-256 over tensor names, dtypes, shapes and bytes: sharding and file names do not count."""
    snapshot: Path | None = None
    """`store/<digest>`; None unless accepted."""
    files: tuple[GradedFile, ...] = ()
    ignored: tuple[str, ...] = ()
    equals_base: bool = False
    """Everything that decides a score equals the base: its baseline is this submission's verdict."""
    distance: Distance | None = None

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.files)

    @property
    def refused(self) -> bool:
        """The agent has something to mend."""
        return any(each.refuses for each in self.findings)

    @property
    def faulted(self) -> bool:
        """The host failed: try again, and hold nothing against the agent."""
        return any(each.code.startswith("I_") for each in self.findings)

    @property
    def accepted(self) -> bool:
        return not self.refused and not self.faulted

    def as_dict(self) -> dict[str, Any]:
        """JSON."""
        return {
            **asdict(self),
            "findings": [each.as_dict() for each in self.findings],
            "snapshot": None if self.snapshot is None else str(self.snapshot),
            "bytes": self.bytes,
            "refused": self.refused,
        }
