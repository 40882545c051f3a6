"""The untrusted side, already locked down: find the code in a completion, load it, answer calls with plain data.

Nothing here is relied on. What it sends before it loads the code is its own word; from then on it is the candidate's,
and the judge takes it for nothing more than values.
"""

from collections.abc import Callable
from typing import Any

from .extraction import RULES, NoCode
from .wire import Channel, NotPlain, decode, encode


def serve(channel: Channel) -> None:
    """Answer one order (`rule`, `prompt`, `entry_point`, `completion`), then calls, until the judge ends us."""
    channel.send({"ready": True})
    order = channel.receive()
    function = _load(channel, order)
    while function is not None:
        channel.send(_answer(function, decode(channel.receive())))


def _load(channel: Channel, order: dict[str, str]) -> Callable[..., object] | None:
    try:
        program = RULES[order["rule"]](order["prompt"], order["completion"], order["entry_point"])
    except NoCode:
        channel.send({"kind": "no_code", "program": ""})
        return None
    try:
        code = compile(program, "<candidate>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        channel.send({"kind": "syntax_error", "program": program, "detail": str(error)})
        return None
    channel.send({"kind": "code", "program": program})
    namespace: dict[str, Any] = {"__name__": "candidate"}
    try:
        exec(code, namespace)  # noqa: S102 - this process exists for it
        function = namespace[order["entry_point"]]
    except BaseException as error:
        channel.send({"raised": _described(error)})
        return None
    channel.send({"loaded": True})
    return function  # type: ignore[no-any-return]


def _answer(function: Callable[..., object], arguments: Any) -> dict[str, Any]:
    try:
        args, kwargs = arguments
        return {"value": encode(function(*args, **kwargs))}
    except NotPlain as error:
        return {"odd": str(error)}
    except BaseException as error:
        return {"raised": _described(error)}


def _described(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:300]
    except BaseException:
        return "an exception that cannot be shown"
