"""What the grading device has: memory, and what its GPU can do."""

from pathlib import Path

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def device_bytes(device: str) -> int:
    """Bytes of the GPU, or of the host as far as this process may use them; 0 where unknown."""
    if device != "cpu":
        import torch

        if not torch.cuda.is_available():
            return 0
        return int(torch.cuda.get_device_properties(torch.device(device)).total_memory)
    total = _host_bytes()
    try:
        limit = CGROUP_LIMIT.read_text(encoding="ascii").strip()
    except OSError:
        return total
    return min(total, int(limit)) if limit.isdigit() else total


def compute_capability(device: str) -> tuple[int, int] | None:
    """Of the NVIDIA GPU; None where there is none."""
    import torch

    if not torch.cuda.is_available() or torch.version.cuda is None:
        return None
    major, minor = torch.cuda.get_device_capability(torch.device(device))
    return int(major), int(minor)


def _host_bytes() -> int:
    for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return 0
