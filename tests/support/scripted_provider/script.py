"""What the model does turn by turn, and where its provider fails.

Which turn a request asks for stands in its own history: the ids of our tool calls carry their turn's number, so that a
repeated request gets the same turn and any number of conversations share one provider.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

SHELLS = (
    "Bash",
    "bash",
    "exec_command",
    "shell_command",
    "shell",
    "run_shell_command",
    "execute_bash",
    "terminal",
)
"""What agents call their tool for shell commands, the likelier first."""
TURN = re.compile(r"turn(\d+)z")


@dataclass(frozen=True)
class Turn:
    """One answer: a text and one shell command."""

    run: str
    text: str = ""
    until: Callable[[], bool] | None = None
    """The turn is said again until this holds, each time written a little differently."""


@dataclass(frozen=True)
class Fault:
    """`status` is answered to the first `times` requests for `turn` (0: to every one); 0 breaks the answer off."""

    turn: int | None
    """None: side requests, which have no shell."""
    status: int
    times: int = 1
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    only_streams: bool = False
    """What is asked for whole is answered."""
    share: float = 0.5
    """Of a stream's events, those that come before it breaks off."""


@dataclass(frozen=True)
class Script:
    """Turns, then a last text. Tokens are told as they are here, each request the same."""

    turns: Sequence[Turn]
    final: str = "That was all."
    faults: Sequence[Fault] = ()
    tokens: tuple[int, int, int] = (100, 40, 10)
    """Read, of which cached, and said."""


@dataclass(frozen=True)
class Asked:
    """A request, in no provider's words. `results`: ids of the tool results in its history."""

    model: str
    stream: bool
    tools: Mapping[str, Mapping[str, Any]]
    """JSON schema of its arguments, by tool."""
    results: Sequence[str]
    schema: Mapping[str, Any] | None = None
    """Of the answer, where it must be JSON."""


@dataclass(frozen=True)
class Told:
    """An answer, in no provider's words."""

    id: str
    text: str
    tool: str
    arguments: Any
    tokens: tuple[int, int, int]


def turn_of(asked: Asked) -> int | None:
    """The turn that is asked for, from 0; None: a side request, which has no shell."""
    if shell_of(asked.tools) is None:
        return None
    seen = [int(found[1]) for each in asked.results if (found := TURN.search(each))]
    return max(seen) + 1 if seen else len(asked.results)


def answer_to(asked: Asked, script: Script) -> Told:
    turn, tool, arguments = turn_of(asked), "", None
    if turn and turn <= len(script.turns) and (until := script.turns[turn - 1].until) and not until():
        turn -= 1
    text = json.dumps(smallest(asked.schema)) if asked.schema else "Scripted"
    if turn is not None:
        text = script.final
        if turn < len(script.turns):
            text = script.turns[turn].text
            tool = shell_of(asked.tools) or ""
            apart = f"  # {uuid4().hex[:8]}" if script.turns[turn].until else ""
            arguments = call_of(tool, asked.tools[tool], script.turns[turn].run + apart)
    return Told(f"turn{turn or 0:03}z{uuid4().hex[:12]}", text, tool, arguments, script.tokens)


def shell_of(tools: Mapping[str, Any]) -> str | None:
    return next((name for name in (*SHELLS, "exec") if name in tools), None)


def call_of(tool: str, schema: Mapping[str, Any], command: str) -> Any:
    """Arguments that run `command`; for Codex' `exec`, which takes a program, that program."""
    if tool == "exec":
        asked = json.dumps({"cmd": command, "yield_time_ms": 30_000})
        return f"const done = await tools.exec_command({asked});\ntext(done.output);"
    properties = schema.get("properties") or {}
    name = next((each for each in ("command", "cmd", "script") if each in properties), "command")
    listed = "array" in kinds(properties.get(name, {}))
    given = {**smallest(schema), name: ["bash", "-lc", command] if listed else command}
    return given | ({"yield_time_ms": 30_000} if "yield_time_ms" in properties else {})


def smallest(schema: Mapping[str, Any]) -> Any:
    """The smallest value that fits a JSON schema."""
    if schema.get("enum"):
        return schema["enum"][0]
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            return smallest(schema[union][0])
    found = kinds(schema)
    if "object" in found or (not found and "properties" in schema) or not schema:
        properties = schema.get("properties") or {}
        return {name: smallest(properties.get(name, {"type": "string"})) for name in schema.get("required") or ()}
    simple: dict[str, Any] = {"array": [], "boolean": False, "integer": 0, "number": 0, "null": None}
    return next((simple[kind] for kind in found if kind in simple), "scripted")


def kinds(schema: Mapping[str, Any]) -> list[str]:
    """The types that a schema names, in small letters: Gemini's are capitals."""
    told = schema.get("type") or []
    return [each.lower() for each in ([told] if isinstance(told, str) else told)]
