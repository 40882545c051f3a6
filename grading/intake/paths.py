"""Follows a path as the sandbox would, one component at a time, and never opens anything outside.

Every step opens one name with O_PATH|O_NOFOLLOW below a descriptor that is already held, so a symlink that is
swapped in after the look cannot lead the grader elsewhere: links are read from the opened link itself and followed
here, absolute targets being paths inside the sandbox. `..` returns to the descriptor one came from.
"""

import errno
import os
import stat
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grading.intake.codes import Refused, refused, shown
from grading.intake.nearby import nearest_text
from grading.intake.view import View

MAX_PATH_BYTES, MAX_NAME_BYTES, MAX_LINKS, MAX_STEPS = 4096, 255, 40, 256
_ROOT = PurePosixPath("/")
_AGENTS_ERRNOS = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL})


@dataclass(frozen=True)
class Place:
    """One existing file or folder: its path inside and an O_PATH descriptor, None where only mounts lie below."""

    inside: PurePosixPath
    fd: int | None
    mode: int = stat.S_IFDIR

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)


@dataclass(frozen=True)
class Trail:
    """The way from the sandbox's root to a place; `linked` when a symlink was followed on it."""

    places: tuple[Place, ...]
    linked: bool = False

    @property
    def place(self) -> Place:
        return self.places[-1]


def path_parts(path: str, *, linked: bool = False) -> list[str]:
    """The components of a submitted path or of a link's target, `.` and empty ones left out.

    Raises: Refused.
    """
    code = "E_SYMLINK" if linked else "E_PATH"
    subject = "the link's target" if linked else "model_path"
    if not path.strip():
        raise refused(code, f"{subject} is empty", rule="empty")
    if "\0" in path:
        raise refused(code, f"{subject} contains a NUL character", rule="nul")
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        raise refused(code, f"{subject} is not valid UTF-8", rule="encoding") from None
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if len(encoded) > MAX_PATH_BYTES or len(parts) > MAX_STEPS:
        most = f"{MAX_PATH_BYTES} bytes and {MAX_STEPS} levels"
        raise refused(code, f"{subject} is too long: at most {most}", rule="too_long")
    if any(len(part.encode()) > MAX_NAME_BYTES for part in parts):
        raise refused(code, f"{subject} has a component of more than {MAX_NAME_BYTES} bytes", rule="too_long")
    return parts


class Resolver:
    """Follows paths in one sandbox's view. Descriptors live as long as the `with` block that asked for them."""

    def __init__(self, view: View, workspace: PurePosixPath) -> None:
        if not view.covers(workspace):
            raise ValueError(f"no mount of the view covers the workspace {workspace}")
        self._view = view
        self._workspace = workspace

    @contextmanager
    def submitted(self, model_path: str) -> Iterator[Trail]:
        """The place a submitted path names: absolute inside the sandbox, or relative to the workspace.

        Raises: Refused with E_PATH or E_SYMLINK; OSError when the fault is the host's.
        """
        parts = path_parts(model_path)
        if not model_path.startswith("/"):
            parts = [*self._workspace.parts[1:], *parts]
        with self.below(Trail((Place(_ROOT, self._open_mount(_ROOT)),)), parts) as trail:
            yield trail

    @contextmanager
    def below(self, start: Trail, parts: Sequence[str]) -> Iterator[Trail]:
        """The place that `parts` name from a place already held.

        Raises: as `submitted`.
        """
        walk = _Walk(self._view, self._workspace, list(start.places))
        try:
            yield walk.follow(parts)
        finally:
            walk.close()

    def _open_mount(self, inside: PurePosixPath) -> int | None:
        host = self._view.host_at(inside)
        return None if host is None else os.open(host, os.O_PATH | os.O_CLOEXEC)


class _Walk:
    """One journey along a path; owns the descriptors it opens."""

    def __init__(self, view: View, workspace: PurePosixPath, places: list[Place]) -> None:
        self._view = view
        self._workspace = workspace
        self._places = places
        self._opened: list[int] = []
        self._links = 0

    def close(self) -> None:
        for fd in self._opened:
            os.close(fd)

    def follow(self, parts: Sequence[str]) -> Trail:
        pending = deque(parts)
        for _ in range(MAX_STEPS):
            if not pending:
                break
            part = pending.popleft()
            here = self._places[-1]
            if not here.is_folder:
                raise self._refuse(f"{shown(str(here.inside))} is a file, not a folder", "not_a_folder")
            if part == "..":
                self._places = self._places[: max(1, len(self._places) - 1)]
                continue
            place = self._step(here, part)
            if stat.S_ISLNK(place.mode):
                pending.extendleft(reversed(self._target(place)))
            else:
                self._places.append(place)
        else:
            raise self._refuse(f"the path takes more than {MAX_STEPS} steps", "too_long")
        self._confine(self._places[-1])
        return Trail(tuple(self._places), linked=self._links > 0)

    def _step(self, here: Place, part: str) -> Place:
        inside = here.inside / part
        mounted = self._view.host_at(inside)
        try:
            if mounted is not None:
                fd = os.open(mounted, os.O_PATH | os.O_CLOEXEC)
            elif here.fd is not None:
                fd = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here.fd)
            else:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        except OSError as error:
            if mounted is None and error.errno == errno.ENOENT and self._view.leads_to_mount(inside):
                return Place(inside, None)
            raise self._explain(error, here, inside, ours=mounted is not None) from None
        self._opened.append(fd)
        return Place(inside, fd, os.fstat(fd).st_mode)

    def _target(self, link: Place) -> list[str]:
        self._links += 1
        if self._links > MAX_LINKS:
            raise self._refuse("the links run in a circle", "loop")
        target = os.readlink("", dir_fd=link.fd)
        if target.startswith("/"):
            del self._places[1:]
        return path_parts(target, linked=True)

    def _confine(self, place: Place) -> None:
        if not place.inside.is_relative_to(self._workspace):
            raise self._outside()
        if place.fd is None:
            return
        real = Path(os.readlink(f"/proc/self/fd/{place.fd}"))
        if not self._view.holds_host_path(real):
            raise self._outside()

    def _explain(self, error: OSError, here: Place, inside: PurePosixPath, *, ours: bool) -> Exception:
        if ours:
            return error
        if not inside.is_relative_to(self._workspace) and not self._workspace.is_relative_to(inside):
            return self._outside()
        if error.errno == errno.ENOENT:
            return self._refuse(f"{shown(str(inside))} does not exist. {nearest_text(here.inside, here.fd)}", "missing")
        if error.errno in _AGENTS_ERRNOS:
            why = os.strerror(error.errno or 0).lower()
            return self._refuse(f"{shown(str(inside))} cannot be opened: {why}", "unreadable")
        return error

    def _outside(self) -> Refused:
        how = "a symlink leads" if self._links else "the path leads"
        return self._refuse(f"{how} outside the workspace {self._workspace}", "outside")

    def _refuse(self, message: str, rule: str) -> Refused:
        return refused("E_SYMLINK" if self._links else "E_PATH", message, rule=rule)
