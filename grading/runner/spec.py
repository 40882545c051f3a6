"""Reading `spec.json` into a `RunnerSpec`, with one clear line for whatever is wrong in it."""

import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, get_args

from grading.contract import SPEC_VERSION, EngineName, RunnerSpec

DTYPES = ("float32", "bfloat16", "float16")
TEXT = ("protocol", "task_dir", "held_out", "checkpoint", "reference", "engine", "device", "dtype")
OPTIONAL_TEXT = ("outside", "endpoint", "held_out_sha256")
FOLDERS = ("task_dir", "held_out")
MODEL_FOLDERS = ("checkpoint", "reference")
"""Both may be empty where a model is asked elsewhere."""


class SpecError(Exception):
    """The spec cannot be used; the message names the field and what it should be."""


def read_spec(path: Path) -> RunnerSpec:
    """The checked spec in the JSON file `path`. Raises: SpecError."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"cannot be read: {error}") from error
    except json.JSONDecodeError as error:
        raise SpecError(f"is not JSON: {error}") from error
    if not isinstance(raw, dict):
        raise SpecError("must be a JSON object")
    _check_names(raw)
    _check_types(raw)
    spec = RunnerSpec(**raw)
    _check_values(spec)
    return spec


def _check_names(raw: dict[str, Any]) -> None:
    known = {f.name for f in fields(RunnerSpec)}
    required = {f.name for f in fields(RunnerSpec) if f.default is MISSING and f.default_factory is MISSING}
    if missing := sorted(required - raw.keys()):
        raise SpecError(f"lacks {', '.join(missing)}")
    if unknown := sorted(raw.keys() - known):
        raise SpecError(f"has unknown fields: {', '.join(unknown)}")


def _check_types(raw: dict[str, Any]) -> None:
    optional = {"limit", "max_model_len", "threads", "held_out_items", *OPTIONAL_TEXT}
    for name, value in raw.items():
        if value is None and name in optional:
            continue
        if name in TEXT + OPTIONAL_TEXT:
            if not isinstance(value, str) or not (value or name in MODEL_FOLDERS):
                raise SpecError(f"{name} must be a non-empty string, not {value!r}")
        elif name == "batch_invariant":
            if not isinstance(value, bool):
                raise SpecError(f"batch_invariant must be true or false, not {value!r}")
        elif isinstance(value, bool) or not isinstance(value, int):
            raise SpecError(f"{name} must be a whole number{' or null' if name in optional else ''}, not {value!r}")


def _check_values(spec: RunnerSpec) -> None:
    if spec.version != SPEC_VERSION:
        raise SpecError(f"version is {spec.version}; this runner reads version {SPEC_VERSION}")
    if spec.engine not in get_args(EngineName):
        raise SpecError(f"engine must be one of {', '.join(get_args(EngineName))}, not {spec.engine!r}")
    if spec.dtype not in DTYPES:
        raise SpecError(f"dtype must be one of {', '.join(DTYPES)}, not {spec.dtype!r}")
    if spec.device != "cpu" and not spec.device.startswith("cuda"):
        raise SpecError(f"device must be cpu, cuda or cuda:N, not {spec.device!r}")
    if (spec.engine == "openai") != bool(spec.endpoint):
        raise SpecError("endpoint names the model of the engine openai, and of no other")
    if spec.batch_invariant and (spec.engine != "vllm" or spec.device == "cpu"):
        raise SpecError(f"batch_invariant needs the engine vllm on a GPU, not {spec.engine} on {spec.device}")
    for name in ("batch_size", "limit", "max_model_len", "threads", "held_out_items"):
        value = getattr(spec, name)
        if value is not None and value < 1:
            raise SpecError(f"{name} must be at least 1, not {value}")
    elsewhere = spec.engine == "openai" and not spec.checkpoint and not spec.reference
    for name in FOLDERS if elsewhere else FOLDERS + MODEL_FOLDERS:
        if not getattr(spec, name) or not Path(getattr(spec, name)).is_dir():
            raise SpecError(f"{name} is not a folder: {getattr(spec, name)}")
