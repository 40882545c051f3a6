"""Terminal output to spans of text with a class. The text is hostile: whoever prints a span escapes it."""

import re

SEQUENCE = re.compile(
    r"\x1b\[(?P<sgr>[0-9;:]*)m"  # colours
    r"|\x1b\[[0-?]*[ -/]*[@-~]?"  # other control sequences
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # strings meant for the terminal: titles, links
    r"|\x1b[ -/]*[0-~]?"  # two-character escapes
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"  # other control characters
)
COLOURS = ("", "a-red", "a-green", "a-yellow", "a-blue", "a-magenta", "a-cyan", "")
Span = tuple[str, str]


def spans(text: str) -> list[Span]:
    """`(class, text)` in order; neighbours of one class are joined. Unknown sequences and control codes are dropped."""
    found: list[Span] = []
    style, start = ("", False, False), 0
    text = _overwritten(text)
    for match in SEQUENCE.finditer(text):
        _add(found, style, text[start : match.start()])
        start = match.end()
        if match["sgr"] is not None:
            style = _restyled(style, match["sgr"])
    _add(found, style, text[start:])
    return found


def plain(text: str) -> str:
    """The text alone."""
    return "".join(part for _, part in spans(text))


def _overwritten(text: str) -> str:
    """Each line as a terminal would leave it after carriage returns: a progress bar keeps its last state."""
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(next((part for part in reversed(line.split("\r")) if part), "") for line in lines)


def _add(found: list[Span], style: tuple[str, bool, bool], text: str) -> None:
    if not text:
        return
    colour, bold, dim = style
    name = " ".join(part for part in (colour, "a-bold" if bold else "", "a-dim" if dim and not colour else "") if part)
    if found and found[-1][0] == name:
        found[-1] = (name, found[-1][1] + text)
    else:
        found.append((name, text))


def _restyled(style: tuple[str, bool, bool], codes: str) -> tuple[str, bool, bool]:
    colour, bold, dim = style
    numbers = [int(code) if code and len(code) < 4 else 0 for code in re.split("[;:]", codes)]
    if any(number in (38, 48) for number in numbers):
        return style  # 256 and 24-bit colours have no counterpart among the tokens
    for number in numbers:
        if number == 0:
            colour, bold, dim = "", False, False
        elif number in (1, 2, 22):
            bold, dim = (number == 1 or bold) and number != 22, (number == 2 or dim) and number != 22
        elif 30 <= number <= 37 or 90 <= number <= 97:
            colour = COLOURS[number % 10]
            dim = dim or number == 90
        elif number == 39:
            colour = ""
    return colour, bold, dim
