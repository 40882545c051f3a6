"""Laying out the data: what is visible, what is held out, and which archives are refused. Three made-up games."""

import json
import zipfile
from pathlib import Path

import pytest

from benchmark.tasks.alfworld import data
from benchmark.tasks.data_contract import DataTarget, DataUnavailable

SECRET = "the unseen rooms"
NAMES = {
    "train": "pick_and_place_simple-Mug-None-Desk-301/trial_T20190909_210238_431966",
    "valid_seen": "pick_and_place_simple-Mug-None-Desk-302/trial_T20190909_210238_431966",
    "valid_unseen": "pick_heat_then_place_in_recep-Egg-None-Fridge-10/trial_T20190909_210238_431966",
}


class Folder:
    """A `DataSource` that has what is in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        if not (self.path / name).is_file():
            raise DataUnavailable(f"{name} is missing. It comes from {url}.")
        return self.path / name


def release(folder: Path, secret: str = SECRET, without: str = "") -> Folder:
    with zipfile.ZipFile(folder / data.RELEASE, "w") as archive:
        for split, name in NAMES.items():
            problem = secret if split == "valid_unseen" else split
            game = dict.fromkeys(data.FIELDS, "same") | {"pddl_problem": problem, "walkthrough": [], "solvable": True}
            if split != without:
                archive.writestr(f"json_2.1.1/{split}/{name}/game.tw-pddl", json.dumps(game))
    return Folder(folder)


@pytest.fixture
def target(tmp_path: Path) -> DataTarget:
    made = DataTarget(tmp_path / "visible", tmp_path / "held_out")
    made.visible.mkdir()
    made.held_out.mkdir()
    return made


@pytest.fixture(autouse=True)
def _three_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "GAMES", dict.fromkeys(NAMES, 1))
    monkeypatch.setattr(data, "GAMES_SHA256", "none accepted")


def accept(monkeypatch: pytest.MonkeyPatch, folder: Folder, scratch: Path) -> None:
    made = DataTarget(scratch / "v", scratch / "h")
    made.visible.mkdir(parents=True)
    made.held_out.mkdir()
    monkeypatch.setattr(data, "GAMES_SHA256", data._split(folder.path / data.RELEASE, made))


def all_bytes(folder: Path) -> bytes:
    """Names and contents of everything in a folder, zip files opened."""
    parts = []
    for path in sorted(folder.rglob("*")):
        parts.append(str(path.relative_to(folder)).encode())
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                parts += [part for name in archive.namelist() for part in (name.encode(), archive.read(name))]
        elif path.is_file():
            parts.append(path.read_bytes())
    return b"\n".join(parts)


def test_unseen_games_are_held_out(target: DataTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = release(tmp_path)
    accept(monkeypatch, source, tmp_path / "scratch")
    data.prepare(target, source)
    visible = all_bytes(target.visible)
    assert SECRET.encode() not in visible
    assert NAMES["valid_unseen"].encode() not in visible
    assert NAMES["train"].encode() in visible
    assert NAMES["valid_seen"].encode() in visible
    with zipfile.ZipFile(target.held_out / "valid_unseen.zip") as games:
        assert games.namelist() == [NAMES["valid_unseen"] + "/game.tw-pddl"]
        assert json.loads(games.read(games.namelist()[0]))["pddl_problem"] == SECRET
    assert (target.held_out / "examples.json").read_bytes() == (target.visible / "examples.json").read_bytes()
    assert {path.name for path in (target.visible / "alfworld_games").iterdir()} == set(data.LIBRARY)


def test_changed_games_are_refused(target: DataTarget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept(monkeypatch, release(tmp_path), tmp_path / "scratch")
    with pytest.raises(DataUnavailable, match="SHA-256"):
        data.prepare(target, release(tmp_path, secret="other rooms"))


def test_missing_game_is_refused(target: DataTarget, tmp_path: Path) -> None:
    with pytest.raises(DataUnavailable, match="expected"):
        data.prepare(target, release(tmp_path, without="train"))


def test_damaged_archive_is_refused(target: DataTarget, tmp_path: Path) -> None:
    (tmp_path / data.RELEASE).write_bytes(b"PK")
    with pytest.raises(DataUnavailable, match="cannot be read"):
        data.prepare(target, Folder(tmp_path))


def test_no_archive_names_both_that_would_do(target: DataTarget, tmp_path: Path) -> None:
    with pytest.raises(DataUnavailable, match=f"{data.RELEASE} is missing.*{data.URL}.*{data.REPACKED}"):
        data.prepare(target, Folder(tmp_path))
