"""Which names files may have: the same for archives, manifests and the packer."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import unquote_to_bytes

PART_LIMIT = 255
"""Bytes of one part, UTF-8."""
NAME_LIMIT = 1_024
DEPTH_LIMIT = 24
BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]")
NUL = re.compile("\x00")
SURROGATE = re.compile("[\ud800-\udfff]")
DRIVE = re.compile(r"^[A-Za-z]:")
RESERVED = re.compile(r"^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$", re.IGNORECASE)
JUNK = re.compile(r"(^|/)(__MACOSX(/|$)|\.DS_Store$|\._[^/]*$|Thumbs\.db$|desktop\.ini$)", re.IGNORECASE)
ESCAPED = re.compile(r"\\?u\+?([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
LOOKALIKES = str.maketrans(
    {"\u2044": "/", "\u2215": "/", "\u29f8": "/", "\uff0f": "/", "\uff3c": "\\", "\u29f5": "\\", "\u2216": "\\"}
    | {"\u2024": ".", "\uff0e": ".", "\ufe52": ".", "\u2025": "..", "\u3002": "."}
)
OVERLONG = {b"\xc0\xae": b".", b"\xc0\xaf": b"/", b"\xc1\x9c": b"\\", b"\xe0\x80\xae": b".", b"\xe0\x80\xaf": b"/"}

Problem = tuple[str, str]
"""A code, and a sentence about the name."""


def is_junk(name: str) -> bool:
    """What macOS and Windows leave in archives."""
    return JUNK.search(name) is not None


def name_key(name: str) -> str:
    """Equal for names that some file system holds to be one file: by case, and by Unicode's composed forms."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def name_problem(name: str) -> Problem | None:
    """What is wrong with a path of an archive or manifest, written with `/`; None when nothing is."""
    checks = (_spelling_problem, _place_problem, _hidden_problem, _size_problem, _portable_problem)
    return next((problem for check in checks if (problem := check(name))), None)


def shown(name: str, limit: int = 120) -> str:
    """`name` fit for a sentence: nothing in it can move the text around it."""
    text = "".join(char if char.isprintable() and not BIDI.match(char) else f"\\u{ord(char):04x}" for char in name)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _spelling_problem(name: str) -> Problem | None:
    if not name.strip("/ "):
        return "name_empty", "A file has no name."
    told = (
        ("name_not_utf8", SURROGATE, "is not UTF-8"),
        ("name_nul", NUL, "has a NUL in it"),
        ("name_control", CONTROL, "has control characters in it"),
        ("name_bidi", BIDI, "has characters in it that turn the direction of text"),
        ("name_invisible", INVISIBLE, "has invisible characters in it"),
    )
    return next((_problem(code, name, text) for code, pattern, text in told if pattern.search(name)), None)


def _place_problem(name: str) -> Problem | None:
    told = (
        ("name_share", name.startswith(("//", "\\\\")), "names a network share"),
        ("name_absolute", name.startswith(("/", "\\")), "is an absolute path"),
        ("name_drive", bool(DRIVE.match(name)), "names a drive"),
        ("name_home", name.startswith("~"), "names a home folder"),
        ("name_traversal", ".." in name.split("/"), "leads out of the archive"),
        ("name_traversal_backslash", ".." in re.split(r"[\\/]", name), "leads out of the archive, by backslashes"),
        ("name_mixed_separators", "\\" in name, "mixes both kinds of separators, or has a backslash in a name"),
    )
    return next((_problem(code, name, text) for code, is_so, text in told if is_so), None)


def _problem(code: str, name: str, text: str) -> Problem:
    return code, f"{shown(name)} {text}."


def _hidden_problem(name: str) -> Problem | None:
    """Traversal that only shows once something decodes the name."""
    forms = {
        "name_traversal_percent": _percent_decoded(name),
        "name_traversal_unicode": unicodedata.normalize("NFKC", name.translate(LOOKALIKES)),
        "name_traversal_escaped": ESCAPED.sub(lambda match: chr(int(match[1] or match[2], 16)), name),
    }
    for code, form in forms.items():
        parts = re.split(r"[\\/]", form)
        if form != name and (".." in parts or form.startswith(("/", "\\"))):
            return code, f"{shown(name)} leads out of the archive once its name is decoded."
    return None


def _percent_decoded(name: str) -> str:
    data = name.encode("utf-8", "surrogatepass")
    for _ in range(4):
        decoded = unquote_to_bytes(data)
        if decoded == data:
            break
        data = decoded
    for sequence, meant in OVERLONG.items():
        data = data.replace(sequence, meant)
    return data.decode("utf-8", "replace")


def _size_problem(name: str) -> Problem | None:
    parts = name.rstrip("/").split("/")
    if len(name.encode("utf-8", "replace")) > NAME_LIMIT:
        return "name_too_long", f"The path {shown(name)} is longer than {NAME_LIMIT} bytes."
    if max(len(part.encode("utf-8", "replace")) for part in parts) > PART_LIMIT:
        return "name_too_long", f"A part of {shown(name)} is longer than {PART_LIMIT} bytes."
    if len(parts) > DEPTH_LIMIT:
        return "name_too_deep", f"{shown(name)} lies more than {DEPTH_LIMIT} folders deep."
    return None


def _portable_problem(name: str) -> Problem | None:
    for part in name.rstrip("/").split("/"):
        if part in ("", "."):
            return "name_dots", f"{shown(name)} has an empty part or a single dot in it."
        if RESERVED.match(part):
            return "name_reserved", f"{shown(name)} names a device on Windows."
        if part.endswith((" ", ".")):
            return "name_ending", f"{shown(name)} has a part that ends in a dot or a blank."
    return None
