"""Lay out ALFWorld's games: train and seen games are visible with the means to play them, the unseen ones are held out.

Each split is one zip file, read game by game: thousands of small files would make every workspace slow to mount.
"""

import hashlib
import json
import shutil
import zipfile
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from benchmark.tasks.alfworld.archives import BadArchive, games_in
from benchmark.tasks.data_contract import DataSource, DataTarget, DataUnavailable

RELEASE = "json_2.1.3_tw-pddl.zip"
URL = f"https://github.com/alfworld/alfworld/releases/download/0.4.2/{RELEASE}"
REPACKED = "alfworld_json_2.1.1_tw-pddl.tar.xz"
REPACKED_SHA256 = "2e83e92e74643d4bce3846115b6d725c4a6f707733f4e26ec5a5602806ea565c"
"""A smaller archive of the same games, accepted from an operator's folder."""
GAMES = {"train": 3553, "valid_seen": 140, "valid_unseen": 134}
GAMES_SHA256 = "99e14a786aaa75e9d406da5ad5626fb07631937d74eb69fc27caf83245c6e803"
"""Of the lines `split/name sha256` in sorted order: the games themselves, however they are packed."""
HELD_OUT = "valid_unseen"
FIELDS = ("pddl_domain", "grammar", "pddl_problem", "walkthrough")
LIBRARY = ("household.py", "games.py", "playing.py", "requirements.txt")
FOLDER = Path(__file__).parent
ENTRY_DATE = (2020, 1, 1, 0, 0, 0)


def prepare(target: DataTarget, source: DataSource) -> None:
    """Write one zip file for each split, the examples, and the library that plays the games.

    Raises: DataUnavailable: no archive with exactly these games.
    """
    archive = _archive(source)
    try:
        found = _split(archive, target)
    except (BadArchive, ValueError, KeyError) as error:
        raise DataUnavailable(f"{archive} is not ALFWorld's games ({error}). Fetch it anew from {URL}.") from error
    if found != GAMES_SHA256:
        raise DataUnavailable(f"The games in {archive} have SHA-256 {found}, expected {GAMES_SHA256}; see {URL}.")
    for folder in (target.visible, target.held_out):
        shutil.copyfile(FOLDER / "examples.json", folder / "examples.json")
    for file in (FOLDER / "visible").glob("*.*"):
        shutil.copyfile(file, target.visible / file.name)
    library = target.visible / "alfworld_games"
    library.mkdir()
    for name in LIBRARY:
        shutil.copyfile(FOLDER / name, library / name)


def _archive(source: DataSource) -> Path:
    try:
        return source.file(REPACKED, sha256=REPACKED_SHA256, url="")
    except DataUnavailable as no_repacked:
        try:
            return source.file(RELEASE, sha256=None, url=URL)
        except DataUnavailable as no_release:
            raise DataUnavailable(f"{no_release} Or, instead of it, {REPACKED}: {no_repacked}") from no_release


def _split(archive: Path, target: DataTarget) -> str:
    """Write the games into the zip files of their splits; the digest of all of them."""
    lines = []
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        packed = {
            split: stack.enter_context(zipfile.ZipFile(folder / f"{split}.zip", "w", zipfile.ZIP_DEFLATED))
            for split in GAMES
            for folder in [target.held_out if split == HELD_OUT else target.visible]
        }
        for split, name, content in games_in(archive):
            game = json.loads(content)
            text = json.dumps({field: game[field] for field in FIELDS})
            packed[split].writestr(zipfile.ZipInfo(f"{name}/game.tw-pddl", ENTRY_DATE), text, zipfile.ZIP_DEFLATED)
            lines.append(f"{split}/{name} {hashlib.sha256(text.encode()).hexdigest()}\n")
            counts[split] += 1
    if counts != GAMES:
        raise BadArchive(f"it has {dict(counts)} games, expected {GAMES}")
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
