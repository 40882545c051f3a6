"""Measuring folders."""

import os
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmark.sandbox.contract import Limits
from benchmark.sandbox.disk import FILE_BYTES, Held, filesystem_held, tree_bytes, tree_held, trees_held
from benchmark.sandbox.limits import LimitWatch


def test_counts_what_is_allocated(tmp_path: Path) -> None:
    before = tree_bytes(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "file").write_bytes(os.urandom(1_000_000))
    assert 1_000_000 <= tree_bytes(tmp_path) - before <= 1_100_000
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert tree_bytes(tmp_path) - before <= 1_100_000


def test_hard_links_count_once_and_symbolic_ones_do_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(os.urandom(100_000))
    before = tree_bytes(tmp_path)
    os.link(tmp_path / "file", tmp_path / "again")
    (tmp_path / "link").symlink_to("/usr")
    assert tree_bytes(tmp_path) - before < 10_000


def test_nested_roots_count_once_and_missing_ones_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(os.urandom(100_000))
    assert trees_held([tmp_path, tmp_path / "a", tmp_path / "a" / "file"]) == tree_held(tmp_path)
    assert trees_held([tmp_path / "nowhere"]) == Held()
    assert filesystem_held("/no/such/place") == (Held(), False)


def test_so_many_files_are_as_much_as_the_bytes_set_aside_for_them(tmp_path: Path) -> None:
    watch = LimitWatch(Limits(disk_bytes=100 * FILE_BYTES), group=None, folders=[tmp_path])
    for number in range(101):
        assert watch.ended_as(1).exceeded == ("disk" if number >= 100 else None)
        (tmp_path / str(number)).touch()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(sizes=st.lists(st.integers(0, 200_000), max_size=5), limit=st.integers(1, 1_000_000))
def test_growth_is_what_counts(tmp_path: Path, sizes: list[int], limit: int) -> None:
    watch = LimitWatch(Limits(disk_bytes=limit), group=None, folders=[tmp_path])
    before = tree_held(tmp_path)
    for number, size in enumerate(sizes):
        (tmp_path / f"{number}-{len(os.listdir(tmp_path))}").write_bytes(os.urandom(size))
    grown = max((tree_held(tmp_path) - before).bytes, len(sizes) * FILE_BYTES)
    assert watch.ended_as(1).exceeded == ("disk" if grown >= limit else None)
