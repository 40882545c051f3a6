"""Words and operators of a shell's text, with its quotes, substitutions, arrays and here-documents."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

HEREDOC = re.compile(r"(?<!<)<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
ARRAY = re.compile(r"[A-Za-z_]\w*\+?=")
SINGLE_QUOTED_DOLLAR = "\x00"
ITEM = "\x01"
"""In front of each item of an array's value."""
OPERATORS = ("&&", "||", ";;", "|&", "&>>", "&>", ">>", ">&", "<<<", "<&", ";", "|", "&", "(", ")", ">", "<", "\n")
REDIRECTIONS = frozenset({"&>>", "&>", ">>", ">&", "<<<", "<&", ">", "<"})
MAX_TOKENS = 50_000


@dataclass(frozen=True)
class Token:
    """A word (with `$` of single quotes masked) or an operator."""

    text: str
    line: int
    is_operator: bool = False
    heredoc: str | None = None


def tokens(text: str) -> Iterator[Token]:
    """Words and operators; comments are dropped, here-documents stay with the operator's line."""
    at, line, count = 0, 1, 0
    waiting: list[str] = []
    while at < len(text) and count < MAX_TOKENS:
        count += 1
        char = text[at]
        if char in " \t\r":
            at += 1
        elif text.startswith("\\\n", at):
            at, line = at + 2, line + 1
        elif char == "#":
            at = _until(text, at, "\n")
        elif char == "\n":
            yield Token("\n", line, True)
            at, line = at + 1, line + 1
            for word in waiting:
                at, line = _skip_heredoc(text, at, line, word)
            waiting = []
        elif (match := HEREDOC.match(text, at)) is not None:
            waiting.append(match.group(2))
            body = _heredoc(text, at, waiting)
            yield Token("<<", line, True, heredoc=body)
            at = match.end()
        elif (operator := next((each for each in OPERATORS if text.startswith(each, at)), None)) is not None:
            yield Token(operator, line, True)
            at += len(operator)
        else:
            word, at, lines = _word(text, at)
            if text.startswith("(", at) and ARRAY.fullmatch(word):
                items, at, more = _array(text, at + 1)
                word, lines = word + "".join(ITEM + each for each in items), lines + more
            yield Token(word, line)
            line += lines


def _until(text: str, at: int, mark: str) -> int:
    found = text.find(mark, at)
    return len(text) if found < 0 else found


def _heredoc(text: str, at: int, waiting: list[str]) -> str:
    start = _until(text, at, "\n") + 1
    for word in waiting[:-1]:
        start, _ = _skip_heredoc(text, start, 0, word)
    end, _ = _skip_heredoc(text, start, 0, waiting[-1])
    return text[start:end].rpartition("\n" if not text[start:end].endswith("\n") else waiting[-1])[0]


def _skip_heredoc(text: str, at: int, line: int, word: str) -> tuple[int, int]:
    match = re.compile(rf"^[ \t]*{re.escape(word)}[ \t]*$\n?", re.M).search(text, at)
    end = match.end() if match else len(text)
    return end, line + text.count("\n", at, end)


def _array(text: str, at: int) -> tuple[list[str], int, int]:
    """The items up to the closing bracket."""
    items: list[str] = []
    start = at
    while at < len(text) and text[at] != ")" and len(items) < MAX_TOKENS:
        if text[at] == "#":
            at = _until(text, at, "\n")
        elif text[at] in " \t\r\n;&|<>(":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        else:
            word, at, _ = _word(text, at)
            items.append(word)
    return items, at + 1, text.count("\n", start, at)


def _word(text: str, at: int) -> tuple[str, int, int]:
    out: list[str] = []
    start = at
    while at < len(text):
        char = text[at]
        if char == "'":
            end = _until(text, at + 1, "'")
            out.append(text[at + 1 : end].replace("$", SINGLE_QUOTED_DOLLAR))
            at = end + 1
        elif char == '"':
            at = _double(text, at + 1, out)
        elif char == "\\" and at + 1 < len(text):
            out.append("" if text[at + 1] == "\n" else text[at + 1])
            at += 2
        elif text.startswith("$(", at) or char == "`":
            end = _substitution(text, at)
            out.append("$UNKNOWN")
            at = end
        elif char in " \t\r\n;&|<>()":
            break
        else:
            out.append(char)
            at += 1
    return "".join(out), at, text.count("\n", start, at)


def _double(text: str, at: int, out: list[str]) -> int:
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and at + 1 < len(text):
            out.append({"$": SINGLE_QUOTED_DOLLAR, "\n": ""}.get(text[at + 1], text[at + 1]))
            at += 2
        elif text.startswith("$(", at):
            at = _substitution(text, at)
            out.append("$UNKNOWN")
        else:
            out.append(text[at])
            at += 1
    return at + 1


def _substitution(text: str, at: int) -> int:
    """The end of `$(…)` or of backquotes that begin at `at`."""
    if text[at] == "`":
        return _until(text, at + 1, "`") + 1
    depth, at = 0, at + 1
    while at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            break
    return at
