"""Ways to break a checkpoint."""

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

State = dict[str, Any]


def edit_json(path: Path, **changes: Any) -> None:
    """Set keys of a JSON file; None removes one."""
    value = json.loads(path.read_text())
    for key, change in changes.items():
        if change is None:
            value.pop(key, None)
        else:
            value[key] = change
    path.write_text(json.dumps(value, indent=2))


def edit_weights(folder: Path, change: Callable[[State], State | None], file: str = "model.safetensors") -> None:
    """Load the state dict, let `change` alter or replace it, and save it."""
    from safetensors.torch import load_file, save_file

    state = load_file(folder / file)
    changed = change(state)
    save_file(state if changed is None else changed, folder / file, metadata={"format": "pt"})


def renamed(rule: Callable[[str], str]) -> Callable[[State], State]:
    return lambda state: {rule(name): tensor for name, tensor in state.items()}


def raw_safetensors(header: Mapping[str, Any] | bytes, data: bytes = b"") -> bytes:
    """A file with just this header, whatever it says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data
