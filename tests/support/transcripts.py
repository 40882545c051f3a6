"""Transcripts for the explorer's tests, in Claude Code's stream format, with times, hostile text in every field, and
everything that the explorer shows in its own way."""

import base64
import json
import struct
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
HOSTILE = (
    "<script>window.__xss=1</script>",
    '<img src=x onerror="window.__xss=1">',
    '"><svg/onload=window.__xss=1>',
    "</pre></style><style>*{display:none}</style>",
    "[go](javascript:window.__xss=1)",
    "{{ 7|add:7 }}{% now 'Y' %}",
)
ALL = " ".join(HOSTILE)
TRICKS = "abc\u202egpj.exe\u200b \ufeff\U000e0041 e\u0301 👩\u200d👩"


def png(width: int = 8, height: int = 4) -> str:
    """A picture, as base64."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\x00" + b"\xc0\x40\x40" * width) * height)
    whole = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return base64.b64encode(whole).decode()


class Script:
    """Lines of a transcript; each call a minute after the one before, its result half a minute later."""

    def __init__(self, session: str = "s1") -> None:
        self.session, self.calls, self.at = session, 0, START
        first = {"type": "system", "subtype": "init", "session_id": session, "model": "m-1", "tools": ["Bash"]}
        self.lines = [json.dumps({**first, "claude_code_version": "2.1"})]

    @property
    def data(self) -> bytes:
        return "".join(f"{line}\n" for line in self.lines).encode("utf-8", "surrogatepass")

    def say(self, text: str, kind: str = "text") -> None:
        self._line("assistant", [{"type": kind, kind: text}])

    def call(self, name: str, arguments: Any, result: Any = "done", *, failed: bool = False, call_id: str = "") -> str:
        """Without a result when that is None; the call's id."""
        self.calls += 1
        call_id = call_id or f"toolu_{self.calls:06}"
        self._line("assistant", [{"type": "tool_use", "id": call_id, "name": name, "input": arguments}])
        if result is not None:
            self.answer(call_id, result, failed=failed)
        return call_id

    def answer(self, call_id: str, result: Any, *, failed: bool = False) -> None:
        answer = {"type": "tool_result", "tool_use_id": call_id, "content": result, "is_error": failed}
        self._line("user", [answer])

    def submit(self, number: int, score: float | None) -> str:
        told = {"submission_id": number, "score": score, "best": {"score": score}}
        command = f'curl -s $GRADING_SERVER_URL/submit -d \'{{"model_path":"output/v{number}"}}\''
        return self.call("Bash", {"command": command}, json.dumps(told))

    def _line(self, kind: str, content: list[dict[str, Any]]) -> None:
        self.at += timedelta(seconds=30)
        message = {"id": f"m{len(self.lines)}", "role": kind, "model": "m-1", "content": content}
        facts = {"type": kind, "session_id": self.session, "message": message, "parent_tool_use_id": None}
        self.lines.append(json.dumps({**facts, "timestamp": self.at.isoformat()}, ensure_ascii=False))


def telling() -> Script:
    """One of everything, hostile wherever text can be."""
    script = Script()
    script.say(f"I look around. {ALL} {TRICKS}")
    script.say(f"Perhaps GRPO. {ALL}", "thinking")
    script.call(f"Bash{HOSTILE[0]}", {"command": f"ls {ALL}"}, f"\x1b[31mred\x1b[0m plain \x1b]0;title\x07{ALL}\x00")
    edit = {"file_path": f"code/{HOSTILE[0]}.py", "old_string": f"a = 1\nb = 2 {ALL}\n", "new_string": "a = 1\nb = 3\n"}
    script.call("Edit", edit, "ok", call_id='c"><script>window.__xss=1</script>')
    script.call("Read", {"file_path": "plot.png"}, [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png()}}
    ])  # fmt: skip
    script.call("Bash", {"command": "cat weights.b64"}, base64.b64encode(bytes(range(256)) * 40).decode())
    script.submit(1, 20.5)
    script.call("Read", {"file_path": "gone"}, f"It does not exist. {ALL}", failed=True)
    script.submit(2, 10.0)
    script.lines.append(f"no JSON at all {ALL}")
    script.say("The end of it.")
    return script


def long(calls: int, *, colours: bool = False) -> Iterator[bytes]:
    """Many short calls, in pieces; with `colours` each result has more coloured words than are shown at once."""
    script = Script()
    coloured = "".join(f"\x1b[3{n % 7 + 1}m{n}\x1b[0m\n" for n in range(200)) if colours else ""
    for number in range(calls):
        script.call("Bash", {"command": f"echo {number}"}, f"number {number} of many\n" + coloured)
        if len(script.lines) > 2000:
            yield script.data
            script.lines.clear()
    yield script.data
