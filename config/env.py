"""Settings from the environment, failing with one line that says what to set."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

PREFIX = "AGENT2_"
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str | None = None) -> str:
    """The variable `AGENT2_<name>`; empty is the same as unset, as env files have it.

    Raises: ImproperlyConfigured: it is unset and has no default.
    """
    value = os.environ.get(PREFIX + name) or default
    if value is None:
        raise ImproperlyConfigured(f"Set {PREFIX}{name}: it has no default in this deployment.")
    return value


def flag(name: str, default: bool) -> bool:
    """A boolean variable. Raises: ImproperlyConfigured: it is neither true nor false."""
    value = text(name, str(default)).strip().lower()
    if value not in TRUE | FALSE:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be one of 1, 0, true, false.")
    return value in TRUE


def number(name: str, default: float, *, low: float, high: float) -> float:
    """A number within [low, high]. Raises: ImproperlyConfigured: it is not one."""
    raw = text(name, str(default))
    try:
        value = float(raw)
    except ValueError:
        raise ImproperlyConfigured(f"{PREFIX}{name}={raw!r} must be a number.") from None
    if not low <= value <= high:
        raise ImproperlyConfigured(f"{PREFIX}{name}={raw} must lie between {low:g} and {high:g}.")
    return value


def whole(name: str, default: int, *, low: int, high: float) -> int:
    """A whole number within [low, high]. Raises: ImproperlyConfigured: it is not one."""
    value = number(name, default, low=low, high=high)
    if value != int(value):
        raise ImproperlyConfigured(f"{PREFIX}{name}={value:g} must be a whole number.")
    return int(value)


def price(name: str) -> float | None:
    """A number from 0 on, or None where it is unset. Raises: ImproperlyConfigured: it is no number."""
    return number(name, 0, low=0, high=1e6) if text(name, "") else None


def mapping(name: str) -> Mapping[str, Any]:
    """A JSON object; empty where it is unset. Raises: ImproperlyConfigured: it is none."""
    raw = text(name, "") or "{}"
    try:
        value = json.loads(raw)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ImproperlyConfigured(f'{PREFIX}{name}={raw!r} must be a JSON object, such as {{"max_tokens": null}}.')
    return value


def choice(name: str, default: str, options: Sequence[str]) -> str:
    """One of `options`. Raises: ImproperlyConfigured: it is another word."""
    value = text(name, default)
    if value not in options:
        raise ImproperlyConfigured(f"{PREFIX}{name}={value!r} must be one of {', '.join(options)}.")
    return value


def words(name: str, default: str = "") -> list[str]:
    """A comma-separated list."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def folder(name: str, default: Path) -> Path:
    """An absolute path; not created here."""
    return Path(text(name, str(default))).expanduser().absolute()


def folders(name: str) -> list[Path]:
    """A comma-separated list of folders. Raises: ImproperlyConfigured: one is not there."""
    found = [Path(word).expanduser().absolute() for word in words(name)]
    for path in found:
        if not path.is_dir():
            raise ImproperlyConfigured(f"{PREFIX}{name} names {path}, which is no folder here.")
    return found


def url(name: str, default: str | None = None, *, schemes: Sequence[str] = ("https", "http")) -> str:
    """An address without a slash at its end. Raises: ImproperlyConfigured: another scheme, no host, or a wrong port.

    What is wrong is not shown: it may hold a password.
    """
    value = text(name, default).rstrip("/")
    try:
        parts = urlsplit(value)
        good = parts.scheme in schemes and bool(parts.hostname or parts.scheme == "unix") and parts.port != 0
    except ValueError:
        good = False
    if value and not good:
        told = " or ".join(f"{scheme}://" for scheme in schemes)
        raise ImproperlyConfigured(f"{PREFIX}{name} must begin with {told} and name a host; a port is a number.")
    return value
