"""The command lines that an agent had run when it submitted, from its transcript."""

from collections.abc import Iterator
from typing import Any

from benchmark.services.workspace import run_folder
from traces.contract import EventKind
from traces.models import CodeSnapshot, Event, Recording
from traces.selectors import body
from traces.services.recording_times import lines_within, log_times

COMMANDS_MOST = 2000
COMMAND_CHARS = 20_000
NAMES = ("command", "cmd", "script", "code")


def commands_before(snapshot: CodeSnapshot) -> list[str]:
    """In order, the last `COMMANDS_MOST` of those that are known; empty where the log or its trace is not here."""
    recording = Recording.objects.filter(run_id=snapshot.run_id).first()
    if recording is None or recording.trace_id is None:
        return []
    try:
        path = run_folder(snapshot.run) / "agent.log"
        last = lines_within(path, snapshot.log_bytes, log_times(snapshot.run))
        calls = Event.objects.filter(trace=recording.trace_id, kind=EventKind.TOOL_CALL, line__lte=last)
        found = calls.select_related("trace").order_by("-seq")[:COMMANDS_MOST]
        return [line for call in reversed(found) for line in command_lines(body(call).arguments)]
    except (OSError, ValueError):
        return []


def command_lines(arguments: Any) -> Iterator[str]:
    """The command in a tool call's arguments, where it is one: a string, or a list of words as `exec` takes it."""
    if isinstance(arguments, str):
        yield arguments[:COMMAND_CHARS]
        return
    values = [arguments.get(name) for name in NAMES] if isinstance(arguments, dict) else []
    for value in values:
        if isinstance(value, str) and value.strip():
            yield value[:COMMAND_CHARS]
            return
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            # ["bash", "-lc", "…"] is a shell with its script.
            is_script = len(value) >= 3 and value[-2].startswith("-")
            yield (value[-1] if is_script else " ".join(value))[:COMMAND_CHARS]
            return
