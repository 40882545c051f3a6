"""Every archive of the corpus is refused with its own code, and leaves nothing anywhere."""

from pathlib import Path

import pytest

from bundles.unpacking.refusal import REFUSALS, Refused
from bundles.unpacking.unpack import archive_unpack
from tests.unit.bundles.archives import plain_zip
from tests.unit.bundles.hostile import CORPUS, GOOD, SMALL, Case


def ident(case: Case) -> str:
    return case[0]


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("case", CORPUS, ids=ident)
def test_refused_with_its_own_text(case: Case, tmp_path: Path) -> None:
    code, filename, build = case
    archive, into = tmp_path / "upload", tmp_path / "quarantine" / "inner"
    archive.write_bytes(build())
    into.mkdir(parents=True)
    before = everything(tmp_path)
    with pytest.raises(Refused) as refusal:
        archive_unpack(archive, into, filename=filename, limits=SMALL)
    assert refusal.value.code == code, refusal.value.text
    assert refusal.value.text
    assert refusal.value.fix
    assert everything(tmp_path) == before
    archive.write_bytes(plain_zip(GOOD))
    assert archive_unpack(archive, into, filename="next.zip", limits=SMALL).files == 2


def test_the_corpus_is_large_and_every_way_is_in_it() -> None:
    assert len(CORPUS) >= 60
    not_made = {"no_zstd", "no_space", "too_slow"}
    assert REFUSALS.keys() - {code for code, _, _ in CORPUS} == not_made
