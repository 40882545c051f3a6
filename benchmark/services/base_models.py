"""Base models: built here, a local folder, or fetched from the hub. Every one ends as a folder of safetensors."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from benchmark.services.locking import held_alone

HUB_ID = re.compile(r"^[A-Za-z0-9][\w.-]*/[\w.-]+(@[\w.-]+)?$")
HUB_FILES = ["*.safetensors", "*.json", "*.jinja", "*.model", "*.txt"]


class BaseModelUnavailable(Exception):
    """The base model could not be provided; the message says why."""


def base_model_problem(reference: str) -> str:
    """Empty when `reference` has the form of a base model, else what to write instead. Does not touch the network."""
    if len(reference) > 256 or not reference.isprintable():
        return "A base model's name may have at most 256 printable characters."
    if reference in settings.BASE_MODEL_BUILDERS:
        return ""
    # The name becomes a folder of the workspace.
    if (HUB_ID.match(reference) or reference.startswith("/")) and base_model_name(reference) not in (".", ".."):
        return ""
    known = ", ".join(settings.BASE_MODEL_BUILDERS)
    return f"Give a built-in model ({known}), an absolute folder, or a hub id such as Qwen/Qwen2.5-0.5B-Instruct."


def base_model_name(reference: str) -> str:
    """A folder name for the workspace: the last part of a path or hub id."""
    return reference.rstrip("/").split("/")[-1].split("@")[0] or "base"


def base_model_folder(reference: str, *, progress: Callable[[str], None]) -> Path:
    """The folder of the base model, built or fetched on first use.

    `progress` is called with one line whenever there is something to tell.
    Raises: BaseModelUnavailable.
    """
    if reference.startswith("/"):
        folder = Path(reference)
        if not (folder / "config.json").is_file():
            raise BaseModelUnavailable(f"{folder} holds no config.json on this worker.")
        return folder
    store = settings.DATA_DIR / "base_models"
    target = store / reference.replace("/", "--")
    with held_alone(store / f"{target.name}.lock"):
        if not (target / "config.json").is_file():
            if reference in settings.BASE_MODEL_BUILDERS:
                _build(settings.BASE_MODEL_BUILDERS[reference], target, progress)
            else:
                _fetch(reference, target, progress)
    return target


def base_models_here() -> dict[str, Path]:
    """Models that are in this worker's store already, by the name that runs give them."""
    store = Path(settings.DATA_DIR) / "base_models"
    folders = sorted(store.iterdir()) if store.is_dir() else []
    return {each.name.replace("--", "/"): each for each in folders if (each / "config.json").is_file()}


def _build(module: str, target: Path, progress: Callable[[str], None]) -> None:
    progress(f"Building the base model {target.name}; about a minute, once.")
    command = [sys.executable, "-m", module, str(target)]
    done = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BaseModelUnavailable(f"{module} failed: {done.stderr.strip()[-2000:]}")


def _fetch(reference: str, target: Path, progress: Callable[[str], None]) -> None:
    from huggingface_hub import snapshot_download

    name, _, revision = reference.partition("@")
    part = target.with_name(target.name + ".part")
    progress(f"Fetching {reference} from the hub.")
    try:
        snapshot_download(name, revision=revision or None, local_dir=part, allow_patterns=HUB_FILES)
    except Exception as error:
        raise BaseModelUnavailable(f"{reference} could not be fetched: {error}") from error
    for path in part.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)  # the sandbox may run as another user
    part.rename(target)
