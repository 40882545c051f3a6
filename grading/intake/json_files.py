"""Reads JSON that an agent wrote: bounded, and every way to fail said with line and column."""

import json
from pathlib import Path
from typing import Any

from grading.intake.codes import Refused, finding


class NotJson(Exception):
    """The text is not a JSON object; the message has no word of its content."""


def json_object(data: bytes, *, unique_keys: bool = False) -> dict[str, Any]:
    """Parse one JSON object.

    Raises: NotJson, also for nesting and numbers that the parser gives up on and, if asked, for repeated keys.
    """
    pairs_hook = _unique if unique_keys else None
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=pairs_hook)
    except json.JSONDecodeError as error:
        raise NotJson(f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise NotJson(f"byte {error.start} is not UTF-8") from None
    except RecursionError:
        raise NotJson("nested too deeply") from None
    except ValueError:
        raise NotJson("a number of too many digits") from None
    if not isinstance(value, dict):
        raise NotJson("not a JSON object")
    return value


def json_file(path: Path, *, code: str) -> dict[str, Any]:
    """Parse a file of the private copy; sizes were limited when it was copied.

    Raises: Refused with `code`; OSError.
    """
    data = path.read_bytes()
    try:
        return json_object(data)
    except NotJson as error:
        if data.startswith(b"version https://git-lfs"):
            raise Refused(lfs_pointer(path.name)) from None
        what = "empty" if not data.strip() else f"not valid JSON: {error}"
        raise Refused(finding(code, f"{path.name} is {what}", file=path.name)) from None


def lfs_pointer(name: str) -> Any:
    """The finding for a file that Git LFS did not fetch."""
    return finding("E_LFS_POINTER", f"{name} is a Git LFS pointer, not the file itself", file=name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotJson("a key occurs twice")
    return value
