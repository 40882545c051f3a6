"""From a path that an agent submitted to a private, hashed and checked copy, or to what must be mended."""

import errno
import stat
from pathlib import Path, PurePosixPath

from grading.contract import Finding
from grading.intake.base import BaseFacts
from grading.intake.checks import checkpoint_check
from grading.intake.codes import Refused, by_importance, finding, refused, shown
from grading.intake.layout_checks import layout_check
from grading.intake.limits import MIB, IntakeLimits
from grading.intake.links import links_check
from grading.intake.listing import TEMPLATE_FILE, Listing, folder_list
from grading.intake.nearby import checkpoint_folders
from grading.intake.paths import Resolver, Trail
from grading.intake.report import IntakeReport
from grading.intake.snapshot import (
    disk_check,
    file_opened,
    files_copy,
    files_digest,
    incoming_folder,
    sizes_check,
    snapshot_commit,
    stamps_take,
    unchanged_check,
)
from grading.intake.view import View

_IGNORED_SHOWN = 200


def checkpoint_take(
    *,
    view: View,
    workspace: PurePosixPath,
    model_path: str,
    base: BaseFacts,
    store: Path,
    owner: str = "",
    limits: IntakeLimits | None = None,
) -> IntakeReport:
    """Copy, hash and check what an agent submitted. Runs none of it and needs no GPU.

    `workspace` is the agent's folder and `model_path` the submitted path, both as the sandbox sees them. An accepted
    checkpoint lies in `store/<digest>`, read-only; identical submissions share one. What an earlier call for the same
    `owner` left in the store, because it was killed, goes. Whatever the agent did wrong
    comes back as findings, never as an exception, and so do the host's faults (I_*).
    """
    limits = limits or IntakeLimits()
    try:
        resolver = Resolver(view, workspace)
        with resolver.submitted(model_path) as folder:
            return _Intake(resolver, folder, base, store, limits, owner=owner).take()
    except Refused as refusal:
        return IntakeReport(findings=(refusal.finding,))
    except OSError as error:
        return IntakeReport(findings=(host_fault(error),))


class _Intake:
    """One folder's way through the intake."""

    def __init__(
        self, resolver: Resolver, folder: Trail, base: BaseFacts, store: Path, limits: IntakeLimits, *, owner: str
    ) -> None:
        self._resolver = resolver
        self._folder = folder
        self._base = base
        self._store = store
        self._owner = owner
        self._limits = limits

    def take(self) -> IntakeReport:
        """Raises: Refused; OSError."""
        fd = self._folder_fd()
        listing = folder_list(fd, self._limits)
        if not listing.names and not listing.folders and not listing.special:
            raise refused("E_PATH", f"{self._shown} is empty", rule="empty_folder")
        ignored = _ignored(listing)
        early = list(layout_check(listing, checkpoint_folders(fd)))
        early += links_check(self._resolver, self._folder, listing)
        if any(each.refuses for each in early):
            return IntakeReport(findings=by_importance(early), ignored=ignored)
        try:
            return self._copy_and_check(listing, early, ignored)
        except Refused as refusal:
            return IntakeReport(findings=by_importance([*early, refusal.finding]), ignored=ignored)

    def _copy_and_check(self, listing: Listing, early: list[Finding], ignored: tuple[str, ...]) -> IntakeReport:
        stamps = stamps_take(self._resolver, self._folder, listing.graded)
        sizes_check(stamps, self._limits)
        with incoming_folder(self._store, self._owner) as incoming:
            disk_check(self._store, sum(stamp.size for stamp in stamps.values()), self._limits)
            files = files_copy(self._resolver, self._folder, stamps, incoming)
            unchanged_check(self._resolver, self._folder, stamps, self._limits)
            template = self._template(listing)
            checked = checkpoint_check(incoming, frozenset(stamps), template, self._base, self._limits)
            digest = files_digest(files)
            findings = by_importance([*early, *checked.findings])
            snapshot = None
            if not any(each.refuses for each in findings):
                snapshot = snapshot_commit(incoming, self._store, digest)
        return IntakeReport(
            findings=findings,
            digest=digest,
            weights_digest=checked.weights_digest,
            snapshot=snapshot,
            files=tuple(files),
            ignored=ignored,
            equals_base=checked.equals_base,
            distance=checked.distance,
        )

    def _template(self, listing: Listing) -> str | None:
        """The submitted chat template's text, its first MiB; read only to say that it is not used."""
        if TEMPLATE_FILE not in listing.names:
            return None
        try:
            with file_opened(self._resolver, self._folder, TEMPLATE_FILE) as fd, open(fd, "rb", closefd=False) as file:
                return file.read(MIB).decode("utf-8", "replace")
        except Refused:
            return None

    def _folder_fd(self) -> int:
        place = self._folder.place
        if place.fd is not None and place.is_folder:
            return place.fd
        if place.fd is None:
            raise refused("E_PATH", f"{self._shown} holds only mounts, no checkpoint", rule="not_a_checkpoint")
        if not stat.S_ISREG(place.mode):
            raise refused("E_SPECIAL_FILE", f"{self._shown} is a FIFO, socket or device", rule="special")
        raise refused(
            "E_PATH",
            f"{self._shown} is a file: submit the folder that holds it, {shown(str(place.inside.parent))}",
            rule="not_a_folder",
        )

    @property
    def _shown(self) -> str:
        return shown(str(self._folder.place.inside))


def _ignored(listing: Listing) -> tuple[str, ...]:
    names = [shown(name) for name in listing.ignored]
    more = [f"and {len(names) - _IGNORED_SHOWN} more"] if len(names) > _IGNORED_SHOWN else []
    return tuple(names[:_IGNORED_SHOWN] + more)


def host_fault(error: OSError) -> Finding:
    """The finding for a failure that is the host's, not the agent's."""
    code = "I_DISK" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "I_IO"
    return finding(code, f"the grader could not read or store the checkpoint: {error.strerror or error}")
