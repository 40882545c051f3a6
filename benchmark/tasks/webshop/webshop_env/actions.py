"""From what a model writes to an action."""

import re
from dataclasses import dataclass
from typing import Literal

MAX_CHARS = 1000
"""A longer answer is no action: no search and no label is that long."""
_PREFIX = re.compile(r"action(?: \d+)?\s*:", re.IGNORECASE)
_ACTION = re.compile(r"(.+)\[(.+)\]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


@dataclass(frozen=True)
class Action:
    """`search[words]` or `click[label]`, lower case inside."""

    name: Literal["search", "click"]
    argument: str


def read_action(answer: str) -> str:
    """The action's text in a model's answer: one line without `Action:` before it; `choose[` means `click[`.

    Control characters become spaces and half surrogate pairs question marks, so the result can be shown and stored.
    """
    text = answer[: MAX_CHARS + 1].encode("utf-8", "replace").decode()
    text = _CONTROL.sub(" ", text).strip()
    if opening := _PREFIX.match(text):
        text = text[opening.end() :].strip()
    return "click[" + text.removeprefix("choose[") if text.startswith("choose[") else text


def parse_action(text: str) -> Action | None:
    """The action that `text` begins with, or None. Whatever follows the last `]` is ignored."""
    found = _ACTION.match(text)
    if len(text) > MAX_CHARS or found is None or not found[2].strip():
        return None
    if found[1] == "search":
        return Action("search", found[2].lower())
    return Action("click", found[2].lower()) if found[1] == "click" else None
