"""The private copy: what is hashed, checked and graded is what was written here, whatever the agent does meanwhile."""

import errno
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from grading.intake.codes import Refused, refused, shown
from grading.intake.limits import IntakeLimits
from grading.intake.listing import TOKENIZER_FILES, folder_list
from grading.intake.paths import Resolver, Trail
from grading.intake.report import GradedFile

_CHUNK = 4 << 20
_INCOMING, _ABANDONED_S = ".incoming-", 6 * 3600
_TICK_S, _TICKS_WAITED = 0.02, 25
"""Longer than the coarsest step of a file system's clock, and how often to wait for it."""


@dataclass(frozen=True)
class Stamp:
    """What betrays a change. The change time cannot be set back by the file's owner, as the modification time can."""

    device: int
    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, fd: int) -> "Stamp":
        found = os.fstat(fd)
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@contextmanager
def file_opened(resolver: Resolver, folder: Trail, name: str) -> Iterator[int]:
    """A readable descriptor of a file of the folder. Links are followed within the workspace; only files are opened.

    Raises: Refused; OSError.
    """
    with ExitStack() as held:
        try:
            trail = held.enter_context(resolver.below(folder, [name]))
        except Refused as refusal:
            raise _about(name, refusal) from None
        place = trail.place
        if place.fd is None or not stat.S_ISREG(place.mode):
            code = "E_SYMLINK" if trail.linked else "E_SPECIAL_FILE"
            raise refused(code, f"{shown(name)} does not lead to a regular file", file=name)
        # Reopening the held descriptor reaches the very inode that was just looked at.
        try:
            fd = os.open(f"/proc/self/fd/{place.fd}", os.O_RDONLY | os.O_CLOEXEC)
        except PermissionError:
            raise refused("E_PATH", f"{shown(name)} cannot be read: permission denied", file=name) from None
        held.callback(os.close, fd)
        yield fd


def stamps_take(resolver: Resolver, folder: Trail, names: Sequence[str]) -> dict[str, Stamp]:
    """Every file's stamp, taken when none of them is so fresh that a further write could keep it.

    Raises: as `file_opened`; Refused (E_CHANGED) when one is written all the time.
    """
    for _ in range(_TICKS_WAITED):
        stamps = {}
        for name in names:
            with file_opened(resolver, folder, name) as fd:
                stamps[name] = Stamp.of(fd)
        newest = max(stamps, key=lambda name: stamps[name].changed_ns)
        age_s = (time.time_ns() - stamps[newest].changed_ns) / 1e9
        if not 0 <= age_s < _TICK_S:
            return stamps
        time.sleep(_TICK_S)
    raise _changed(newest, "was being written")


def sizes_check(stamps: Mapping[str, Stamp], limits: IntakeLimits) -> None:
    """Raises: Refused (E_TOO_LARGE)."""
    for name, stamp in stamps.items():
        if name.endswith(".safetensors"):
            continue
        most = limits.tokenizer_bytes if name in TOKENIZER_FILES else limits.json_bytes
        if stamp.size > most:
            raise refused(
                "E_TOO_LARGE",
                f"{name} has {stamp.size} bytes, at most {most} are accepted",
                file=name,
                expected=most,
                found=stamp.size,
            )
    total = sum(stamp.size for stamp in stamps.values())
    if total > limits.total_bytes:
        largest = max(stamps, key=lambda name: stamps[name].size)
        raise refused(
            "E_TOO_LARGE",
            f"the checkpoint has {total} bytes, at most {limits.total_bytes} are accepted",
            file=largest,
            expected=limits.total_bytes,
            found=total,
        )


def disk_check(store: Path, needed: int, limits: IntakeLimits) -> None:
    """Raises: Refused (I_DISK)."""
    free = shutil.disk_usage(store).free
    wanted = int(needed * limits.free_factor)
    if free < wanted:
        raise refused("I_DISK", f"the grader's store has {free} bytes free and needs {wanted}")


def files_copy(resolver: Resolver, folder: Trail, stamps: Mapping[str, Stamp], target: Path) -> list[GradedFile]:
    """Copy and hash in one pass; then see that nothing has changed meanwhile.

    Raises: Refused (E_CHANGED); OSError.
    """
    copied = []
    for name, stamp in stamps.items():
        with _file_again(resolver, folder, name) as source:
            if Stamp.of(source) != stamp:
                raise _changed(name, "was rewritten")
            digest = _copy(source, target / name, stamp.size)
        if digest is None:
            raise _changed(name, "became shorter")
        copied.append(GradedFile(name, stamp.size, digest))
    # The folder's name will vouch for the contents: they must not be lost when the host loses power.
    for _ in _syncing.map(_sync, [target / name for name in stamps]):
        pass
    return copied


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fdatasync(fd)
    finally:
        os.close(fd)


_syncing = ThreadPoolExecutor(4, thread_name_prefix="sync")
"""Several at a time: a journal's commit then serves them all."""


def unchanged_check(resolver: Resolver, folder: Trail, before: Mapping[str, Stamp], limits: IntakeLimits) -> None:
    """Look again: the same names, and behind each name the same untouched file.

    Raises: Refused (E_CHANGED); OSError.
    """
    if folder.place.fd is None:
        return
    listed = set(folder_list(folder.place.fd, limits).graded)
    if appeared := sorted(listed - before.keys()):
        raise _changed(appeared[0], "appeared")
    if gone := sorted(before.keys() - listed):
        raise _changed(gone[0], "disappeared")
    for name, stamp in before.items():
        with _file_again(resolver, folder, name) as fd:
            if Stamp.of(fd) != stamp:
                raise _changed(name, "was rewritten")


def files_digest(files: Sequence[GradedFile]) -> str:
    """SHA-256 over the sorted names and contents' hashes."""
    digest = hashlib.sha256(b"checkpoint/1\n")
    for each in sorted(files, key=lambda file: file.name):
        digest.update(f"{each.name}\0{each.sha256}\n".encode())
    return digest.hexdigest()


@contextmanager
def incoming_folder(store: Path, owner: str = "") -> Iterator[Path]:
    """A fresh folder beside the snapshots, removed at the end unless it was moved into place.

    What killed workers left behind is removed too: for the same `owner` at once, for others in time.
    """
    store.mkdir(parents=True, exist_ok=True)
    own = f"{_INCOMING}{owner}-" if owner else _INCOMING
    for old in store.glob(f"{_INCOMING}*"):
        with suppress(FileNotFoundError):
            left = owner and old.name.startswith(own)
            if left or time.time() - old.lstat().st_mtime > _ABANDONED_S:
                shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=own, dir=store))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def snapshot_commit(incoming: Path, store: Path, digest: str) -> Path:
    """Move the copy to its name in one step; an identical one that is there already stays.

    Raises: OSError.
    """
    final = store / digest
    for file in incoming.iterdir():
        file.chmod(0o444)
    incoming.chmod(0o755)
    for _ in range(2):
        if _holds_the_same(final, incoming):
            os.utime(final)  # pruning leaves alone what a submission has just come to rely on
            return final
        try:
            incoming.rename(final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            # Another worker was faster, or what lies there is damaged and is put away to be removed.
            if not _holds_the_same(final, incoming):
                final.rename(store / f"{_INCOMING}{digest}-{time.time_ns()}")
        else:
            return final
    raise OSError(errno.EEXIST, "the snapshot's place in the store stays taken")


def _holds_the_same(final: Path, incoming: Path) -> bool:
    """Whether a snapshot of this digest is there whole: names and sizes, its name vouching for the contents."""

    def sizes(folder: Path) -> dict[str, int]:
        return {each.name: each.stat().st_size for each in folder.iterdir()}

    return final.is_dir() and sizes(final) == sizes(incoming)


def _copy(source: int, target: Path, size: int) -> str | None:
    """Copy exactly `size` bytes, whatever is appended meanwhile; None when there are fewer."""
    digest = hashlib.sha256()
    buffer = memoryview(bytearray(min(_CHUNK, max(size, 1))))
    left = size
    with target.open("xb", buffering=0) as out:
        while left:
            got = os.readv(source, [buffer[: min(left, len(buffer))]])
            if got == 0:
                return None
            digest.update(buffer[:got])
            written = 0
            while written < got:
                written += out.write(buffer[written:got])
            left -= got
    return digest.hexdigest()


@contextmanager
def _file_again(resolver: Resolver, folder: Trail, name: str) -> Iterator[int]:
    """As `file_opened`, for a file that could be opened before: what cannot be opened now has changed."""
    with ExitStack() as held:
        try:
            fd = held.enter_context(file_opened(resolver, folder, name))
        except Refused:
            raise _changed(name, "was replaced") from None
        yield fd


def _about(name: str, refusal: Refused) -> Refused:
    found = refusal.finding
    return Refused(
        replace(found, message=f"{shown(name)}: {found.message}", detail={**found.detail, "file": shown(name)})
    )


def _changed(name: str, how: str) -> Refused:
    return refused("E_CHANGED", f"file {shown(name)} {how} during intake; finish saving, then submit", file=name)
