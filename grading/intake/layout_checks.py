"""What the names alone tell: not a model folder, code in it, pickled weights."""

import re
from collections.abc import Iterator

from grading.contract import Finding
from grading.intake.codes import finding, names, shown
from grading.intake.listing import Listing, found_text, trainer_state

_PLAIN_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")


def layout_check(listing: Listing, nested: list[str]) -> Iterator[Finding]:
    """Everything wrong with the names. `nested`: subfolders that look like checkpoints themselves."""
    yield from _special(listing)
    yield from _code(listing)
    yield from _file_names(listing)
    if not listing.weights and not listing.special:
        yield _no_weights(listing, nested)
    elif "config.json" not in listing.names and not listing.special:
        yield _no_config(listing, nested)
    if listing.weights and listing.adapters:
        yield finding(
            "W_ADAPTER_IGNORED",
            f"{names(listing.adapters)} beside full weights: only the full weights are graded",
            found=listing.adapters,
        )


def _special(listing: Listing) -> Iterator[Finding]:
    if listing.special:
        yield finding(
            "E_SPECIAL_FILE",
            f"{names(listing.special)}: a FIFO, socket or device, which is never opened",
            file=listing.special[0],
        )


def _code(listing: Listing) -> Iterator[Finding]:
    if listing.python_files:
        yield finding(
            "E_REMOTE_CODE",
            f"the checkpoint comes with Python code: {names(listing.python_files)}",
            file=listing.python_files[0],
            found=listing.python_files,
        )


def _file_names(listing: Listing) -> Iterator[Finding]:
    for name in listing.weights:
        if not _PLAIN_NAME.fullmatch(name):
            yield finding("E_FILE_NAME", f"the weights file {shown(name)} has an unusable name", file=name)
            return


def _no_weights(listing: Listing, nested: list[str]) -> Finding:
    if listing.pickled:
        return finding(
            "E_PICKLE",
            f"{names(listing.pickled)}: pickled weights are never opened, and there are no safetensors",
            file=listing.pickled[0],
            found=listing.pickled,
        )
    if listing.adapters:
        return finding(
            "E_ADAPTER_ONLY",
            f"{names(listing.adapters)} present, no full weights: this is an adapter, not a model",
            file=listing.adapters[0],
            found=listing.adapters,
        )
    if "config.json" not in listing.names:
        return _no_config(listing, nested)
    return finding("E_NO_WEIGHTS", f"the folder has a config.json but no *.safetensors; {found_text(listing)}")


def _no_config(listing: Listing, nested: list[str]) -> Finding:
    message = f"the folder has no config.json; {found_text(listing)}"
    state = trainer_state(listing)
    if state:
        message += f". {names(state)} is a trainer's state, not a model"
    if nested:
        message += f". Did you mean {names([f'{name}/' for name in nested])}?"
    return finding("E_NO_CONFIG", message, file="config.json", found=sorted(listing.names), nested=nested or None)
