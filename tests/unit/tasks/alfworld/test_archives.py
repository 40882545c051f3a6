"""Reading games out of archives: only what a game can be, nothing outside, no bombs."""

import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.tasks.alfworld.archives import LARGEST_GAME, BadArchive, games_in

NAME = "pick_and_place_simple-Mug-None-Desk-308/trial_T20190909_210238_431966"
GAME = f"json_2.1.1/valid_unseen/{NAME}/game.tw-pddl"
Files = dict[str, bytes]


def zipped(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, files: Files) -> Path:
    with tarfile.open(path, "w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


both = pytest.mark.parametrize("pack", [zipped, tarred])
Pack = Callable[[Path, Files], Path]


@both
def test_games_are_found(tmp_path: Path, pack: Pack) -> None:
    archive = pack(tmp_path / "a", {GAME: b"{}", f"./{GAME.replace('valid_unseen', 'train')}": b"[]"})
    assert list(games_in(archive)) == [("valid_unseen", NAME, b"{}"), ("train", NAME, b"[]")]


@both
@pytest.mark.parametrize(
    "name",
    [
        f"../{GAME}",
        f"/{GAME}",
        GAME.replace("trial_", "../trial_"),
        GAME.replace("valid_unseen", "valid_train"),
        GAME.replace("game.tw-pddl", "traj_data.json"),
        f"__MACOSX/{GAME}",
        GAME + "/x",
        GAME + "\n",
    ],
)
def test_all_else_is_passed_over(tmp_path: Path, pack: Pack, name: str) -> None:
    assert list(games_in(pack(tmp_path / "a", {name: b"{}"}))) == []


@both
def test_content_larger_than_any_game_is_refused(tmp_path: Path, pack: Pack) -> None:
    archive = pack(tmp_path / "a", {GAME: b"0" * (LARGEST_GAME + 1)})
    with pytest.raises(BadArchive, match="larger than"):
        list(games_in(archive))


def test_links_are_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a", "w:xz") as archive:
        for kind, target in ((tarfile.SYMTYPE, "/etc/passwd"), (tarfile.LNKTYPE, "secret")):
            member = tarfile.TarInfo(GAME)
            member.type, member.linkname = kind, target
            archive.addfile(member)
    assert list(games_in(tmp_path / "a")) == []


@both
def test_truncated_archive_is_refused(tmp_path: Path, pack: Pack) -> None:
    path = pack(tmp_path / "a", {GAME: bytes(range(256)) * 3000})
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(BadArchive):
        list(games_in(path))


def test_neither_zip_nor_tar_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("<html>Not found</html>")
    with pytest.raises(BadArchive):
        list(games_in(tmp_path / "a"))
