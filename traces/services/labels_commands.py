"""The command lines that an agent ran before a moment, from its transcript."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from benchmark.models import Run
from traces.contract import EventKind
from traces.models import Event, Recording, Trace
from traces.selectors import body
from traces.services.recording_times import log_times

COMMANDS_MOST = 2000
COMMAND_CHARS = 20_000
NAMES = ("command", "cmd", "script", "code")
LATE = timedelta(seconds=3)
"""The log is looked at every two seconds: a call may be seen this much later than the submission that it makes."""


def commands_before(run: Run, moment: datetime | None) -> list[str]:
    """In order, the last `COMMANDS_MOST` of them; all when no moment is given."""
    recording = Recording.objects.filter(run=run).select_related("trace").first()
    trace = recording.trace if recording is not None else None
    if trace is None:
        return []
    return list(_commands(run, trace, moment))[-COMMANDS_MOST:]


def _commands(run: Run, trace: Trace, moment: datetime | None) -> Iterator[str]:
    times = log_times(run)
    calls = Event.objects.filter(trace=trace, kind=EventKind.TOOL_CALL).select_related("trace").order_by("seq")
    for call in calls.iterator(500):
        at = call.at or times.at_line(call.line)
        if moment is not None and at is not None and at > moment + LATE:
            continue
        try:
            yield from command_lines(body(call).arguments)
        except (OSError, ValueError):
            return


def command_lines(arguments: Any) -> Iterator[str]:
    """The command in a tool call's arguments, where it is one: a string, or a list of words as `exec` takes it."""
    if isinstance(arguments, str):
        yield arguments[:COMMAND_CHARS]
        return
    if not isinstance(arguments, dict):
        return
    for name in NAMES:
        value = arguments.get(name)
        if isinstance(value, str) and value.strip():
            yield value[:COMMAND_CHARS]
            return
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            # ["bash", "-lc", "…"] is a shell with its script.
            yield (value[-1] if len(value) >= 3 and value[-2].startswith("-") else " ".join(value))[:COMMAND_CHARS]
            return
