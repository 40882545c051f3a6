"""The real problems, and a court that tries completions."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmark.tasks.humaneval.court import Court
from benchmark.tasks.humaneval.data import read_rows


@pytest.fixture(scope="session")
def problems(shared_data: Path) -> list[dict[str, str]]:
    return read_rows(shared_data / "humaneval" / "HumanEval.jsonl.gz")


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    made = Court()
    yield made
    made.close()
