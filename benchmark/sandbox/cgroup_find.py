"""Where on this host we may create control groups: one controller per kind of limit, version 2 preferred."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

KINDS = ("memory", "pids", "cpu")
OURS = "agent2"


@dataclass(frozen=True)
class Controller:
    """A writable folder under which groups with this controller can be made."""

    kind: str
    version: int
    parent: Path


@dataclass(frozen=True)
class Mounted:
    """A mounted hierarchy: where, which version, the version-1 controllers it has, and our own group in it."""

    root: Path
    version: int
    kinds: frozenset[str]
    own: str


def mounted(mounts: str, membership: str) -> Iterator[Mounted]:
    """The hierarchies in the texts of /proc/self/mounts and /proc/self/cgroup."""
    own: dict[str, str] = {}
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        own.update(dict.fromkeys(controllers.split(","), path))
    for line in mounts.splitlines():
        _, root, kind, options, *_ = line.split()
        if kind == "cgroup2":
            yield Mounted(Path(root), 2, frozenset(), own.get("", "/"))
        elif kind == "cgroup":
            kinds = frozenset(options.split(",")) & frozenset(KINDS)
            yield Mounted(Path(root), 1, kinds, next((own[name] for name in kinds if name in own), "/"))


def candidates(hierarchy: Mounted) -> Iterator[Path]:
    """Folders to try, nearest first, so that the limits of our own group keep holding.

    In version 2 a group with processes cannot have groups with controllers below it, hence the parent (a service with
    `Delegate=yes` and `DelegateSubgroup=`) comes before our own group.
    """
    own = hierarchy.root / hierarchy.own.lstrip("/")
    if hierarchy.version == 2:
        yield own.parent if own != hierarchy.root else own
    if own.is_dir():
        yield own
    yield hierarchy.root


def _v1(hierarchy: Mounted) -> dict[str, Controller]:
    for folder in candidates(hierarchy) if hierarchy.kinds else ():
        ours = folder / OURS
        try:
            ours.mkdir(exist_ok=True)
        except OSError:
            continue
        if os.access(ours, os.W_OK):
            return {kind: Controller(kind, 1, ours) for kind in hierarchy.kinds}
    return {}


def _delegate(folder: Path, kinds: list[str]) -> None:
    (folder / "cgroup.subtree_control").write_text(" ".join(f"+{kind}" for kind in kinds))


def _v2(hierarchy: Mounted) -> dict[str, Controller]:
    for folder in candidates(hierarchy):
        try:
            available = (folder / "cgroup.controllers").read_text().split()
            kinds = [kind for kind in KINDS if kind in available]
            if not kinds:
                continue
            _delegate(folder, kinds)
            ours = folder / OURS
            ours.mkdir(exist_ok=True)
            _delegate(ours, kinds)
        except OSError:
            continue
        return {kind: Controller(kind, 2, ours) for kind in kinds}
    return {}


def find_controllers() -> Mapping[str, Controller]:
    """The controllers that we can use here; empty where there is none, such as in most containers."""
    try:
        hierarchies = list(mounted(Path("/proc/self/mounts").read_text(), Path("/proc/self/cgroup").read_text()))
    except OSError:
        return {}
    found: dict[str, Controller] = {}
    for hierarchy in sorted(hierarchies, key=lambda each: -each.version):
        for kind, controller in (_v2 if hierarchy.version == 2 else _v1)(hierarchy).items():
            found.setdefault(kind, controller)
    return found
