"""Settings from the environment, failing with one line that says what to set."""

import os
from collections.abc import Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

PREFIX = "AGENT2_"
TRUE, FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off", ""}


def text(name: str, default: str | None = None) -> str:
    """The variable `AGENT2_<name>`.

    Raises: ImproperlyConfigured: it is unset and has no default.
    """
    value = os.environ.get(PREFIX + name, default)
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
