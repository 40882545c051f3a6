"""A folder with more names than anybody sorts."""

import os
from pathlib import Path

import pytest

from traces.services import snapshots_walk
from traces.services.snapshots_walk import CodeWalk, opened


@pytest.mark.parametrize(("files", "kept", "said"), [(49, 49, False), (80, 50, True)])
def test_only_so_many_names_of_a_folder_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, kept: int, said: bool
) -> None:
    monkeypatch.setattr(snapshots_walk, "ENTRIES_MOST", 50)
    for number in range(files):
        (tmp_path / f"{number}.py").touch()
    walk = CodeWalk()
    with opened(None, str(tmp_path), os.O_DIRECTORY) as fd:
        assert fd is not None
        assert len(list(walk.files(fd))) == kept
    assert walk.notes == (["of the folder only 50 names were looked at"] if said else [])
