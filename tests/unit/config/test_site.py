"""The embedded default's own key: whole from the first moment, the same for all, and made anew where it was cut off."""

import concurrent.futures
from pathlib import Path

from config.site import kept_secret


def test_it_stays_and_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "secret_key"
    key = kept_secret(path)
    assert len(key) >= 50
    assert kept_secret(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_an_empty_one_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "secret_key"
    path.touch()
    assert kept_secret(path) == kept_secret(path) != ""


def test_all_that_begin_together_have_the_same(tmp_path: Path) -> None:
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: kept_secret(tmp_path / "secret_key"), range(40)))
    assert len(set(keys)) == 1
