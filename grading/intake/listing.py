"""What lies in the submitted folder, by name: what is graded, what is ignored, what is refused. Opens no file."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from grading.intake.codes import names, refused, shown
from grading.intake.limits import IntakeLimits

INDEX_FILE, SINGLE_FILE = "model.safetensors.index.json", "model.safetensors"
TEMPLATE_FILE = "chat_template.jinja"
JSON_FILES = frozenset({"config.json", "generation_config.json", INDEX_FILE})
TOKENIZER_FILES = frozenset(
    {
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "added_tokens.json",
        "vocab.json",
        "merges.txt",
        "vocab.txt",
        "tokenizer.model",
        "spiece.model",
    }
)
_ADAPTER = re.compile(r"adapter_(model|config)\b.*")
_PICKLED_WEIGHTS = re.compile(
    r"(pytorch_model|model|consolidated|mp_rank).*\.(bin|pt|pth|ckpt)|.*\.ckpt", re.IGNORECASE
)
_TRAINER_STATE = re.compile(r"(checkpoint-\d+|global_step\d+)")
_MAX_DEPTH = 32


@dataclass(frozen=True)
class Listing:
    """Names at the top of the folder by kind, and Python files anywhere below it."""

    files: tuple[str, ...]
    links: tuple[str, ...]
    folders: tuple[str, ...]
    special: tuple[str, ...]
    python_files: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """Files and links: what can be opened as a file."""
        return frozenset(self.files) | frozenset(self.links)

    @property
    def graded(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self.names if is_graded(name)))

    @property
    def weights(self) -> tuple[str, ...]:
        return tuple(name for name in self.graded if name.endswith(".safetensors"))

    @property
    def adapters(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self.names if _ADAPTER.fullmatch(name)))

    @property
    def pickled(self) -> tuple[str, ...]:
        return tuple(sorted(name for name in self.names if _PICKLED_WEIGHTS.fullmatch(name)))

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names that are neither opened nor kept; folders end with a slash."""
        others = [name for name in self.names if not is_graded(name)]
        return tuple(sorted([*others, *(f"{name}/" for name in self.folders)]))


def is_graded(name: str) -> bool:
    """Whether a file of this name is part of the checkpoint."""
    if name in JSON_FILES or name in TOKENIZER_FILES:
        return True
    return name.endswith(".safetensors") and not _ADAPTER.fullmatch(name)


def folder_list(fd: int, limits: IntakeLimits) -> Listing:
    """List the folder behind an O_PATH descriptor.

    Raises: Refused (E_TOO_LARGE) when it has too many entries or levels; OSError.
    """
    kinds: dict[str, list[str]] = {kind: [] for kind in ("files", "links", "folders", "special")}
    python_files: list[str] = []
    for count, (path, depth, kind) in enumerate(_walk(fd)):
        if count >= limits.entries or depth > _MAX_DEPTH:
            raise refused(
                "E_TOO_LARGE",
                f"the folder holds more than {limits.entries} files or {_MAX_DEPTH} levels",
                expected=limits.entries,
            )
        if depth == 0:
            kinds[kind].append(path)
        if path.lower().endswith(".py") and kind != "folders":
            python_files.append(path)
    return Listing(**{kind: tuple(sorted(found)) for kind, found in kinds.items()}, python_files=tuple(python_files))


def found_text(listing: Listing) -> str:
    """`it holds a, b and 3 more`, for messages."""
    every = [*sorted(listing.names), *(f"{name}/" for name in listing.folders)]
    return f"it holds {names(every, 6)}" if every else "it is empty"


def trainer_state(listing: Listing) -> tuple[str, ...]:
    """Names that show the folder to be a trainer's output rather than a model's."""
    return tuple(
        [name for name in ("zero_to_fp32.py",) if name in listing.names]
        + [f"{name}/" for name in listing.folders if _TRAINER_STATE.fullmatch(name)]
    )


def _walk(fd: int) -> Iterator[tuple[str, int, str]]:
    """(path, depth, kind) of everything below. Links are not followed; a trainer's own state is not entered."""
    pending = [("", 0)]
    while pending:
        prefix, depth = pending.pop()
        try:
            listed = _open_below(fd, prefix)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            if not prefix:
                raise
            continue
        try:
            with os.scandir(listed) as entries:
                for entry in entries:
                    kind = _kind(entry)
                    yield prefix + entry.name, depth, kind
                    if kind == "folders" and not _TRAINER_STATE.fullmatch(entry.name):
                        pending.append((f"{prefix}{entry.name}/", depth + 1))
        finally:
            os.close(listed)


def _open_below(fd: int, path: str) -> int:
    """A readable descriptor of a subfolder, no link followed on the way."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    here = os.open(".", flags, dir_fd=fd)
    for part in path.split("/")[:-1]:
        try:
            below = os.open(part, flags, dir_fd=here)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise NotADirectoryError(shown(path)) from None
            raise
        finally:
            os.close(here)
        here = below
    return here


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "links"
    if entry.is_dir(follow_symlinks=False):
        return "folders"
    try:
        return "files" if stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode) else "special"
    except FileNotFoundError:
        return "files"
