"""The YAML files of described tasks, and where the one that needs no folder has its texts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

REASONING_GYM_FOLDER = Path(__file__).parent / "reasoning_gym"


class BadFolder(Exception):
    """The folder is no usable task; the message names the file and what is wrong with it."""


def read_yaml(path: Path) -> dict[str, Any]:
    """Raises: BadFolder."""
    import yaml  # not at the top: tasks with an evaluator of their own do without

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadFolder(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise BadFolder(f"{path} must be a mapping.")
    return content


def whole_number(about: Mapping[str, Any], key: str, default: int | None, path: Path) -> int | None:
    """A positive whole number of a YAML file. Raises: BadFolder."""
    value = about.get(key, default)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
        return value
    raise BadFolder(f"{path}: {key} must be a positive whole number, not {value!r}.")
