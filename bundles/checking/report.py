"""What a check tells the platform, as JSON between two processes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar

SEVERITIES = ("error", "warning", "missing", "info")
Built = TypeVar("Built")


@dataclass(frozen=True)
class Found:
    """One finding. `fix` says how to mend it, `source` where it was seen."""

    code: str
    severity: str
    kind: str
    title: str
    text: str = ""
    fix: str = ""
    source: str = ""

    @property
    def contradicts(self) -> bool:
        """Whether the bundle does not agree with itself here, which stands between claimed and checked."""
        return self.severity == "error" or (self.severity == "warning" and self.kind == "Contradiction")


@dataclass(frozen=True)
class FileRead:
    """One file of the archive: `read` is read, in part or ignored; `understood` says as what."""

    path: str
    size: int
    sha256: str = ""
    read: str = ""
    understood: str = ""


@dataclass(frozen=True)
class ClaimedSubmission:
    """`score` 0..100, None: not scored. `at` is ISO 8601 with zone; `weights` is a folder of the bundle."""

    number: int
    at: str = ""
    elapsed_s: float | None = None
    model_path: str = ""
    score: float | None = None
    standard_error: float | None = None
    error: str = ""
    digest: str = ""
    task: str = ""
    weights: str = ""


@dataclass(frozen=True)
class Claim:
    """The run that the bundle describes. Empty and None: not said. Times are ISO 8601 with zone."""

    task: str = ""
    tasks: tuple[str, ...] = ()
    protocol: str = ""
    agent: str = ""
    agent_version: str = ""
    driver: str = ""
    base_model: str = ""
    base_revision: str = ""
    mode: str = ""
    budget_s: float | None = None
    used_s: float | None = None
    started_at: str = ""
    ended_at: str = ""
    outcome: str = ""
    baseline: float | None = None
    """Of `task`."""
    baselines: Mapping[str, float] = field(default_factory=dict)
    """By task."""
    tokens: int | None = None
    contact: str = ""
    licence: str = ""
    redacted: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Hardware, seeds, versions: shown as they are."""
    submissions: tuple[ClaimedSubmission, ...] = ()
    transcripts: tuple[str, ...] = ()
    code: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Submission's number (`0`: as it was at the end) → name below `code/` → path in the bundle."""
    summaries: tuple[str, ...] = ()
    logs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """All of it. `refused` is `{code, text}` when the archive was not opened."""

    layout: str = ""
    refused: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Found, ...] = ()
    passed: tuple[str, ...] = ()
    files: tuple[FileRead, ...] = ()
    claim: Claim = field(default_factory=Claim)
    parts: tuple[str, ...] = ()
    """The folders of all runs in the archive, in order; this report is about one of them."""
    seconds: float = 0.0
    peak_mb: float = 0.0
    """Of the checking process."""

    def count(self, severity: str) -> int:
        return sum(found.severity == severity for found in self.findings)

    @property
    def contradicts(self) -> bool:
        return any(found.contradicts for found in self.findings)

    def as_data(self) -> dict[str, Any]:
        return asdict(self)

    def kept(self) -> dict[str, Any]:
        """What is stored with the bundle: all but the places of code files, of which there may be thousands."""
        return replace(self, claim=replace(self.claim, code={})).as_data()

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Report":
        """From `as_data`, through JSON; fields that are not known any more are left out."""
        given = _known(cls, data)
        claim = _known(Claim, given.pop("claim", {}))
        claim["submissions"] = tuple(_built(ClaimedSubmission, each) for each in claim.get("submissions", ()))
        for name in ("tasks", "transcripts", "summaries", "logs"):
            claim[name] = tuple(claim.get(name, ()))
        given["findings"] = tuple(_built(Found, each) for each in given.get("findings", ()))
        given["files"] = tuple(_built(FileRead, each) for each in given.get("files", ()))
        given["passed"], given["parts"] = tuple(given.get("passed", ())), tuple(given.get("parts", ()))
        return cls(**given, claim=Claim(**claim))


def _known(kind: type, data: Mapping[str, Any]) -> dict[str, Any]:
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in data.items() if name in names}


def _built(kind: type[Built], data: Mapping[str, Any]) -> Built:
    return kind(**_known(kind, data))
