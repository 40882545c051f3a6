"""Transcript formats. A new one is one module with a class, and its name here."""

from typing import Any

from traces.contract import DocumentHead
from traces.dialects.atif import Atif
from traces.dialects.claude_session import ClaudeSession
from traces.dialects.claude_stream import ClaudeStream
from traces.dialects.codex_exec import CodexExec
from traces.dialects.codex_rollout import CodexRollout
from traces.dialects.common import DocumentBase, LineBase
from traces.dialects.gemini import Gemini
from traces.dialects.inspect_log import InspectLog
from traces.dialects.miniswe import MiniSwe
from traces.dialects.opencode import OpenCode
from traces.dialects.opencode_export import OpenCodeExport
from traces.dialects.openhands_v0 import OpenHandsV0, OpenHandsV0Lines
from traces.dialects.openhands_v1 import OpenHandsV1
from traces.dialects.sweagent import SweAgent

LINES: tuple[type[LineBase], ...] = (
    ClaudeSession,
    ClaudeStream,
    CodexExec,
    CodexRollout,
    OpenCode,
    OpenHandsV1,
    OpenHandsV0Lines,
    Gemini,
)
DOCUMENTS: tuple[type[DocumentBase], ...] = (Atif, InspectLog, OpenCodeExport, OpenHandsV0, MiniSwe, SweAgent)


def recognised(dialect: type[LineBase], value: dict[str, Any]) -> bool:
    """`dialect.recognises`, for values of any shape."""
    try:
        return dialect.recognises(value)
    except (TypeError, AttributeError):
        return False


def line_dialect(value: dict[str, Any]) -> type[LineBase] | None:
    """The dialect that one line of JSON belongs to."""
    return next((dialect for dialect in LINES if recognised(dialect, value)), None)


def document_dialect(head: DocumentHead) -> type[DocumentBase] | None:
    """The dialect of a document, by its beginning."""
    return next((dialect for dialect in DOCUMENTS if dialect.detects(head)), None)
