"""This host's GPUs."""

import shutil
import subprocess
from typing import Any

GPU_FIELDS = ("index", "utilization.gpu", "memory.used", "memory.total", "power.draw")


def gpus() -> list[dict[str, Any]]:
    """The host's GPUs as `nvidia-smi` tells them; none where it is not installed or does not answer."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        told = subprocess.run(
            [program, f"--query-gpu={','.join(GPU_FIELDS)}", "--format=csv,noheader,nounits"],
            capture_output=True,
            text=True,
            timeout=3,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    return gpus_told(told.stdout)


def gpus_told(text: str) -> list[dict[str, Any]]:
    """One line a GPU: index, percent, MiB used, MiB in all, watts; `[N/A]` is unknown."""
    found = []
    for line in text.splitlines():
        values = [_float(part) for part in line.split(",")]
        if len(values) == len(GPU_FIELDS) and values[0] is not None:
            _, percent, used, total, watts = values
            found.append(
                {
                    "index": int(values[0]),
                    "percent": percent,
                    "memory_bytes": None if used is None else int(used) << 20,
                    "memory_total": None if total is None else int(total) << 20,
                    "watts": watts,
                }
            )
    return found


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
