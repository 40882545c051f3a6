"""Text of a transcript made harmless to read: nothing hidden, nothing that reorders, no walls of base64.

The templates escape it. Lengths are in characters.
"""

import re

from frontend import ansi

BASE64 = r"(?:[A-Za-z0-9+/_-]{4}){%d,}[A-Za-z0-9+/_-]*={0,2}"
FOLD_FROM, FOLD_LINE = 400, 160
"""Characters in a row that make a wall: in a text, and where one line is shown."""
TRICKS = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""What reorders or hides text: bidirectional controls, zero-width characters that join nothing, tag characters."""
SURROGATES = re.compile("[\ud800-\udfff]")
_WALL, _WALL_LINE = (re.compile(BASE64 % (least // 4)) for least in (FOLD_FROM, FOLD_LINE))


def harmless(text: str) -> str:
    """Terminal controls dropped, tricks named, base64 folded."""
    return folded(named(ansi.plain(text)))


def named(text: str) -> str:
    """Tricks as `[U+202E]`, lone surrogates as U+FFFD."""
    if text.isascii():
        return text
    text = TRICKS.sub(lambda found: f"[U+{ord(found[0]):04X}]", text)
    return SURROGATES.sub("\ufffd", text)


def folded(text: str, wall: re.Pattern[str] = _WALL) -> str:
    """Long runs of base64 as their length."""
    if len(text) < FOLD_LINE:
        return text
    return wall.sub(lambda found: f"[base64, {len(found[0]):,} characters]", text)


def one_line(text: str, length: int) -> str:
    """The beginning on one line; an ellipsis where it is cut."""
    line = folded(" ".join(harmless(text[: 4 * length]).split()), _WALL_LINE)
    return line if len(line) <= length and len(text) <= 4 * length else line[: length - 1] + "…"


def spans(text: str, most: int) -> tuple[list[ansi.Span], int]:
    """Coloured spans of whole lines, at most `most` where one line does not have more; and how many characters of
    `text` they show."""
    found = ansi.spans(text)
    used = len(text)
    while len(found) > most and (cut := text.rfind("\n", 0, max(1, used * 2 // 3))) > 0:
        used = cut + 1
        found = ansi.spans(text[:used])
    if len(found) > most:
        found = [("", ansi.plain(text[:used]))]
    return [(name, folded(named(part))) for name, part in found], used


def size(count: int) -> str:
    """`950 bytes`, `38 kB`, `5.0 MB`."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f} MB"
    return f"{count / 1000:.0f} kB" if count >= 10_000 else f"{count:,} bytes"
