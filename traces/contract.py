"""What a transcript becomes: one stream of events, and what a dialect must be able to do.

Offsets and lengths count bytes of the stored (masked) transcript, UTF-8; lines count from 1.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Protocol


class EventKind(StrEnum):
    """What an event reports."""

    SESSION = "session"
    """A session of the agent program begins: `detail` has agent, version, model, session where known."""
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    USAGE = "usage"
    """Tokens or cost without a message of their own."""
    NOTICE = "notice"
    """Housekeeping of the agent program: a turn began, a rate limit, a compaction."""
    ERROR = "error"
    RESULT = "result"
    """A session's closing summary."""
    RAW = "raw"
    """What was not understood, word for word; `detail["reason"]` says why."""


class Basis(StrEnum):
    """What an event's tokens and cost count."""

    SHARE = "share"
    """This event alone: shares are summed."""
    TOTAL = "total"
    """Everything of the event's session so far: the session's last one counts, they are never summed."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Counts of tokens; None is unknown and stays unknown.

    `input` is the whole prompt, `cached` the part of it read from a cache (as ATIF counts), `output` all that was
    generated, `reasoning` the part of it that was reasoning.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One normalised step of a transcript."""

    kind: EventKind
    line: int
    offset: int
    length: int
    text: str = ""
    at: datetime | None = None
    """In UTC; a time without a zone is read as UTC and `detail["zone"]` is then "assumed"."""
    agent: str = ""
    """The sub-agent's id; empty for the main agent."""
    session: str = ""
    tool: str = ""
    call_id: str = ""
    """Of a call, and of the result that answers it."""
    arguments: Any = None
    failed: bool | None = None
    """Of a result: whether the tool or session reported failure; None when it did not say."""
    message_id: str = ""
    """Events of one model message share it."""
    tokens: Tokens | None = None
    cost: float | None = None
    """US dollars."""
    basis: Basis = Basis.SHARE
    detail: Mapping[str, Any] = field(default_factory=dict)
    seq: int = 0
    """From 1, in the order of ingest. Set by the reader, as are the next two."""
    call_seq: int | None = None
    """Of a result: the event of the call that it answers."""
    duration_s: float | None = None
    """Of a result: seconds since its call. An end before its start gives 0.0 and `detail["clock_skew"]`."""


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON value of the source, and where it lies."""

    value: Any
    line: int
    offset: int
    length: int
    at: datetime | None = None
    """From a time stamp that a wrapper wrote in front of the line."""
    path: tuple[str | int, ...] = ()
    """Inside a document: keys and indices from its top; empty in a file of lines."""
    closed: bool = False
    """The container at `path` ends here; `value` is None."""


ReadBack = Callable[[int, int], bytes]
"""(offset, length) to bytes of the stored transcript that have been fed already."""


class Dialect(Protocol):
    """Reads the records of one transcript format. Instances keep state; one instance reads one transcript.

    `record` answers None for what it does not understand (the reader then keeps it as a raw event) and an empty list
    for what only repeats or continues other records.
    """

    name: ClassVar[str]
    agent: ClassVar[str]
    """The agent system as people call it; empty when the format belongs to no agent."""

    def record(self, record: Record) -> Iterable[TraceEvent] | None: ...

    def finish(self) -> Iterable[TraceEvent]: ...


class LineDialect(Dialect, Protocol):
    """A file of JSON lines."""

    @classmethod
    def recognises(cls, value: dict[str, Any]) -> bool:
        """Whether one line can only be this dialect's."""


class DocumentDialect(Dialect, Protocol):
    """One JSON document; `Record.path` says where in it a value lies."""

    @classmethod
    def detects(cls, head: "DocumentHead") -> bool: ...

    @classmethod
    def opens(cls, path: tuple[str | int, ...]) -> bool:
        """Whether the container at `path` is taken apart rather than handed over whole."""


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """The beginning of a document: whether its top is a list, and the first keys of the top (or of its first item)."""

    is_list: bool
    keys: Mapping[str, bytes]
    """Key to the first bytes of its value."""
