"""JSON from strangers: bounded in size and depth, its NaN kept apart from numbers, its doubled keys told."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

ODD = re.compile("[\x00\ud800-\udfff]")
ODD_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
YAML_TAG = re.compile(rb"(?m)(?:^|[\s\[{:,-])!(?:!?[A-Za-z_]|<)")
YAML_ALIAS = re.compile(rb"(?m)(?:^|[\s\[{:,-])[&*][A-Za-z0-9_]+(?:\s|$)")


class BadJson(Exception):
    """`code` says how: json_too_large, json_not_utf8, json_duplicate_key, json_too_deep, json_empty, json_yaml_tag,

    json_yaml_alias, json_yaml or json_invalid.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def json_load(path: Path, limit: int) -> Any:
    """The file's value. NaN and infinities become floats, for the rules to find. Raises: BadJson; OSError."""
    size = path.stat().st_size
    if size > limit:
        raise BadJson("json_too_large", f"It has {size:,} bytes; {limit:,} are read.")
    return json_parse(path.read_bytes())


def json_parse(data: bytes) -> Any:
    """See `json_load`. Raises: BadJson."""
    if not data.strip():
        raise BadJson("json_empty", "It is empty.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadJson("json_not_utf8", f"It is not UTF-8: byte {error.start} is {data[error.start]:#04x}.") from None
    try:
        value = json.loads(text, object_pairs_hook=_without_doubles)
        return _tidied(value) if ODD_ESCAPE.search(text) else value
    except RecursionError:
        raise BadJson("json_too_deep", "It is nested too deeply.") from None
    except BadJson:
        raise
    except ValueError as error:
        raise _no_json(data, str(error)) from None


def tidy(text: str) -> str:
    """Without NUL, and with a sign in place of lone surrogates: what databases and encoders take."""
    return ODD.sub("\ufffd", text)


def _tidied(value: Any) -> Any:
    """Raises: RecursionError."""
    if isinstance(value, str):
        return tidy(value)
    if isinstance(value, list):
        return [_tidied(item) for item in value]
    if isinstance(value, dict):
        return {tidy(name): _tidied(item) for name, item in value.items()}
    return value


def json_read(path: Path, limit: int) -> Any:
    """The same, None when it cannot be read: for files that only add something."""
    try:
        return json_load(path, limit)
    except (BadJson, OSError):
        return None


def _no_json(data: bytes, error: str) -> BadJson:
    """What it is instead: YAML is told apart, because its tags and aliases can do harm where they are obeyed."""
    if data.lstrip()[:1] not in (b"{", b"["):
        if YAML_TAG.search(data):
            return BadJson("json_yaml_tag", "It is YAML with tags, which name things to construct. Nothing was built.")
        if YAML_ALIAS.search(data):
            return BadJson("json_yaml_alias", "It is YAML with anchors or aliases, which can refer to themselves.")
        if re.match(rb"(?:---|%YAML|#|\w+:\s)", data.lstrip()):
            return BadJson("json_yaml", "It is YAML; JSON is read.")
    return BadJson("json_invalid", f"It is not JSON: {error[:200]}.")


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise BadJson("json_duplicate_key", f"The key {twice[:80]!r} stands twice in one object.")
    return found
