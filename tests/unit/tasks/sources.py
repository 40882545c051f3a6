"""A data source that is one folder on this machine."""

import hashlib
from pathlib import Path

from benchmark.tasks.data_contract import DataUnavailable


class LocalSource:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        path = self._folder / name
        if not path.is_file():
            raise DataUnavailable(f"{path} is missing. It comes from {url}.")
        if sha256 is not None and hashlib.sha256(path.read_bytes()).hexdigest() != sha256:
            raise DataUnavailable(f"{path} is not {url}")
        return path
