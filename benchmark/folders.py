"""Reading what a task's or an agent's folder says about it."""

from pathlib import Path
from typing import Any

import yaml


class CatalogueError(Exception):
    """A folder is not what it should be, or an id is unknown. The message names the file or the known ids."""


def yaml_mapping(path: Path) -> dict[str, Any]:
    """Raises: CatalogueError: the file cannot be read, or holds no mapping."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CatalogueError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise CatalogueError(f"{path} must be a mapping.")
    return content
