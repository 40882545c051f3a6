"""A transcript read once, in little memory: not its events, only what the rules ask about."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

from bundles.dialects.values import moment, table, whole, word
from bundles.rules.trajectories import atif_read_into, call_texts

SCANNED_BLOCK = 4 << 20
PARSED = 4 << 20
"""Bytes of the longest line that is looked into."""
DOCUMENT = 16 << 20
HELD_OUT_MOST = 20
BACKWARDS_S = 300
SUBMIT = re.compile(rb"/submit\b")
SENT = re.compile(rb"curl|POST|requests\.post|httpx|urlopen|wget|http://|https://|GRADING_SERVER_URL")
TIMESTAMP = re.compile(
    rb'"timestamp"\s*:\s*(?:"([0-9TZ:. +-]{10,40})"|(\d{10,13}(?:\.\d+)?))|^\[(\d{4}-[0-9TZ:.-]{10,20})\] ', re.M
)
BASE = re.compile(rb"[A-Za-z0-9.]*(?:-[A-Za-z0-9.]+){0,6}")
FAMILIES = (b"Qwen", b"qwen", b"Llama", b"llama", b"Mistral", b"mistral", b"Gemma", b"gemma", b"Phi", b"SmolLM")
"""With which names of base models begin; looked for one by one, which is faster than one expression."""
SIZED = re.compile(r"-\d+(\.\d+)?[bm](-|$)")
PROGRAM_VERSION = re.compile(rb'"(?:claude_code_version|cli_version|agent_version)"\s*:\s*"([^"\\]{1,60})"')
MODEL = re.compile(rb'"model"\s*:\s*"([^"\\]{1,120})"')
USAGE = re.compile(rb'"type"\s*:\s*"(?:result|turn\.completed)"')
FORMATS = (
    (b'"type":"thread.started"', "Codex exec"),
    (b'"type":"session_meta"', "Codex rollout"),
    (b'"parent_tool_use_id"', "Claude Code stream-json"),
    (b'"type":"system"', "Claude Code stream-json"),
    (b'"parentUuid"', "Claude Code session"),
    (b'"sessionID"', "OpenCode"),
    (b'"ATIF-v1', "ATIF"),
    (b'"trajectory_format"', "mini-swe-agent"),
    (b'"ActionEvent"', "OpenHands"),
    (b'"observation"', "OpenHands"),
    (b'"type":"init"', "Gemini CLI stream-json"),
)


@dataclass
class TranscriptFacts:
    """Counts are of lines unless said otherwise."""

    path: str
    size: int = 0
    lines: int = 0
    kind: str = ""
    """As people call the format; empty: none that is known."""
    submits: int = 0
    """Calls that name `/submit`."""
    bases: Counter[str] = field(default_factory=Counter)
    """Base models named, in lower case."""
    first_at: datetime | None = None
    last_at: datetime | None = None
    backwards: int = 0
    """How often time runs back by more than `BACKWARDS_S` seconds."""
    tokens: int | None = None
    """Input and output, as the transcript's own totals have it."""
    tokens_summed: int | None = None
    """The same as its steps add up to, where both are told."""
    version: str = ""
    """Of the agent's program, where the transcript names it."""
    model: str = ""
    cut: bool = False
    held_out: list[tuple[int, str]] = field(default_factory=list)
    """Line, and what stands there."""
    edges: list[tuple[str, str]] = field(default_factory=list)
    """Trajectory → trajectory that it goes on with or calls."""

    def as_data(self) -> dict[str, Any]:
        times = [moment.isoformat() if moment else None for moment in (self.first_at, self.last_at)]
        return {
            "path": self.path,
            "bytes": self.size,
            "lines": self.lines,
            "kind": self.kind,
            "submits": self.submits,
            "first_at": times[0],
            "last_at": times[1],
            "tokens": self.tokens,
            "cut": self.cut,
            "held_out": [{"line": line, "text": text} for line, text in self.held_out],
        }


def transcript_scan(file: BinaryIO, path: str, held_out: re.Pattern[bytes]) -> TranscriptFacts:
    """Memory is that of a few blocks, whatever the file's size. Raises: OSError."""
    facts = TranscriptFacts(path)
    scan = _Scan(facts, held_out)
    head = file.read(DOCUMENT + 1)
    facts.kind = next((kind for mark, kind in FORMATS if mark in head[: 1 << 16].replace(b'": "', b'":"')), "")
    for name, pattern in (("version", PROGRAM_VERSION), ("model", MODEL)):
        if match := pattern.search(head[: 1 << 16]):
            setattr(facts, name, match[1].decode("utf-8", "replace"))
    document = _document(head) if len(head) <= DOCUMENT else None
    if document is not None:
        scan.document(head, document)
        return facts
    last = b""
    for block in _line_blocks(head, file):
        scan.block(block)
        last = block
    facts.cut = _is_cut(last)
    return facts


def _document(data: bytes) -> Any:
    """The value of a file that is one JSON document rather than lines of it."""
    if data.lstrip()[:1] not in (b"{", b"["):
        return None
    first = data.lstrip().split(b"\n", 1)
    try:
        json.loads(first[0])
        if len(first) > 1 and first[1].strip():
            return None
    except (ValueError, RecursionError):
        pass
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def _line_blocks(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    """Whole lines, `SCANNED_BLOCK` bytes or a little more at once; a line longer than four blocks comes in pieces."""
    rest, data = b"", head
    while data:
        data = rest + data
        end = data.rfind(b"\n") + 1
        if not end and len(data) > 4 * SCANNED_BLOCK:
            end = len(data)
        if end:
            yield data[:end]
        rest = data[end:]
        data = file.read(SCANNED_BLOCK)
    if rest:
        yield rest


def _is_cut(block: bytes) -> bool:
    if not block or block.endswith(b"\n"):
        return False
    line = block[block.rfind(b"\n") + 1 :].lstrip()
    if not line.startswith(b"{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


class _Scan:
    def __init__(self, facts: TranscriptFacts, held_out: re.Pattern[bytes]) -> None:
        self._facts = facts
        self._held_out = held_out
        self._sessions: dict[str, int] = {}

    def block(self, data: bytes) -> None:
        facts = self._facts
        facts.size += len(data)
        self._times(data)
        self._bases(data)
        for start, end in _lines_with(data, SUBMIT, self._held_out, USAGE):
            self._line(data[start:end], facts.lines + data.count(b"\n", 0, start) + 1)
        facts.lines += data.count(b"\n") + (not data.endswith(b"\n"))

    def document(self, data: bytes, value: Any) -> None:
        facts = self._facts
        facts.size, facts.lines = len(data), data.count(b"\n") + 1
        self._times(data)
        self._bases(data)
        for text in call_texts(value):
            self._call(text.encode("utf-8", "replace"), 0)
        if isinstance(value, dict) and word(value.get("schema_version")).startswith("ATIF-v1"):
            atif_read_into(value, facts)

    def _times(self, data: bytes) -> None:
        facts = self._facts
        for match in TIMESTAMP.finditer(data):
            text, seconds, stamp = match.groups()
            at = moment(float(seconds)) if seconds else moment((text or stamp).decode())
            if at is None:
                continue
            if facts.last_at is not None and (facts.last_at - at).total_seconds() > BACKWARDS_S:
                facts.backwards += 1
            facts.first_at = min(facts.first_at or at, at)
            facts.last_at = max(facts.last_at or at, at)

    def _bases(self, data: bytes) -> None:
        for family in FAMILIES:
            start = data.find(family)
            while start >= 0:
                match = BASE.match(data, start)
                end = match.end() if match else start + 1
                name = data[start:end].decode().lower()
                if SIZED.search(name):
                    self._facts.bases[name] += 1
                start = data.find(family, max(end, start + 1))

    def _line(self, line: bytes, number: int) -> None:
        value = _parsed(line)
        if value is None:
            if SENT.search(line) or self._held_out.search(line):
                self._call(line, number)
            return
        for text in call_texts(value):
            self._call(text.encode("utf-8", "replace"), number)
        self._usage(table(value))

    def _call(self, text: bytes, line: int) -> None:
        if SUBMIT.search(text):
            self._facts.submits += 1
        match = self._held_out.search(text)
        if match and len(self._facts.held_out) < HELD_OUT_MOST:
            excerpt = text[max(0, match.start() - 60) : match.end() + 60].decode("utf-8", "replace")
            self._facts.held_out.append((line, " ".join(excerpt.split())))

    def _usage(self, value: dict[str, Any]) -> None:
        """Claude Code's closing total of a session, of which the last counts; Codex's of a turn, which add up."""
        usage = table(value.get("usage"))
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
        if value.get("type") == "result" and "output_tokens" in usage:
            total = sum(whole(usage.get(name)) or 0 for name in names)
            self._sessions[word(value.get("session_id"))] = total
        elif value.get("type") == "turn.completed" and "output_tokens" in usage:
            total = (whole(usage.get("input_tokens")) or 0) + (whole(usage.get("output_tokens")) or 0)
            self._sessions[f"turn {len(self._sessions)}"] = total
        if self._sessions:
            self._facts.tokens = sum(self._sessions.values())


def _lines_with(data: bytes, *patterns: re.Pattern[bytes]) -> list[tuple[int, int]]:
    """Start and end of every line that one of the patterns is found in."""
    found: set[tuple[int, int]] = set()
    for pattern in patterns:
        at = 0
        while (match := pattern.search(data, at)) is not None:
            start = data.rfind(b"\n", 0, match.start()) + 1
            end = data.find(b"\n", match.end())
            end = len(data) if end < 0 else end
            found.add((start, end))
            at = end
            if end == len(data):
                break
    return sorted(found)


def _parsed(line: bytes) -> Any:
    start = line.find(b"{")
    if start < 0 or start > 40 or len(line) > PARSED:
        return None
    try:
        return json.loads(line[start:])
    except (ValueError, RecursionError):
        return None
