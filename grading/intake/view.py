"""Which host folder stands behind a path that the agent sees."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class View:
    """The sandbox's mounts as (path inside, host path); of two that fit, the longer one wins."""

    mounts: tuple[tuple[PurePosixPath, Path], ...]

    def __post_init__(self) -> None:
        for inside, host in self.mounts:
            if not inside.is_absolute() or ".." in inside.parts or not host.is_absolute():
                raise ValueError(f"a mount needs absolute paths without '..': {inside} from {host}")

    def host_at(self, inside: PurePosixPath) -> Path | None:
        """The host folder mounted at exactly this path."""
        return next((host for at, host in self.mounts if at == inside), None)

    def leads_to_mount(self, inside: PurePosixPath) -> bool:
        """Whether something is mounted below this path, so that the path exists inside whatever the host says."""
        return any(at != inside and at.is_relative_to(inside) for at, _ in self.mounts)

    def covers(self, inside: PurePosixPath) -> bool:
        """Whether a mount stands behind this path."""
        return any(inside.is_relative_to(at) for at, _ in self.mounts)

    def holds_host_path(self, host: Path) -> bool:
        """Whether a resolved host path lies in one of the mounts."""
        return any(host.is_relative_to(root) for root in self._roots)

    @cached_property
    def _roots(self) -> tuple[Path, ...]:
        return tuple(root.resolve() for _, root in self.mounts)
