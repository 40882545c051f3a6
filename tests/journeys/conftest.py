"""Journeys run on both deployments."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.checkpoint import small_checkpoint
from tests.support.platform import Platform, services


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_checkpoint(tmp_path_factory.mktemp("base") / "small")


@pytest.fixture(scope="module", params=["embedded", pytest.param("services", marks=pytest.mark.services)])
def platform(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """A running platform with the instant grading runner and bubblewrap."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    data = tmp_path_factory.mktemp("platform")
    if request.param == "embedded":
        yield from _running(Platform(data))
    else:
        with services() as environment:
            yield from _running(Platform(data, environment))


def _running(platform: Platform) -> Iterator[Platform]:
    platform.start()
    try:
        yield platform
    finally:
        platform.stop()
