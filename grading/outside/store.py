"""Answers kept on disk by the digest of what was asked, so that a second grading meets the same world."""

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grading.outside.provider import canonical


class AnswerStore:
    """One folder, shared by every evaluation on this machine. Files appear whole or not at all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, asked: Any) -> Mapping[str, Any] | None:
        """The stored answer, or None; a file that is no JSON object counts as none."""
        try:
            told = json.loads(self._path(asked).read_text(encoding="utf-8"))["answer"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return told if isinstance(told, dict) else None

    def put(self, asked: Any, answer: Mapping[str, Any], *, replace: bool = False) -> Mapping[str, Any]:
        """Keep an answer; the one that is kept. Of two at the same time the first stays, unless `replace`."""
        path = self._path(asked)
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as part:
            json.dump({"asked": asked, "answer": answer}, part)
            part.flush()
            os.fsync(part.fileno())
        try:
            if replace:
                os.replace(part.name, path)
            else:
                self._put_first(part.name, path, asked)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(part.name)
        return self.get(asked) or answer

    def _put_first(self, part: str, path: Path, asked: Any) -> None:
        try:
            os.link(part, path)
        except FileExistsError:
            if self.get(asked) is None:  # unreadable: it gives way
                os.replace(part, path)

    def _path(self, asked: Any) -> Path:
        digest = hashlib.sha256(canonical(asked)).hexdigest()
        return self._folder / digest[:2] / f"{digest}.json"
