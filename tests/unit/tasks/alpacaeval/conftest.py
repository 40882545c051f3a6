"""The task's data prepared from the real baseline file, with the stand-ins for the GLM's constants."""

from pathlib import Path

import pytest

from benchmark.tasks.alpacaeval import data
from benchmark.tasks.data_contract import DataTarget
from tests.unit.tasks.alpacaeval.published import Published, read_published
from tests.unit.tasks.sources import LocalSource


@pytest.fixture(scope="session")
def published(shared_data: Path) -> Published:
    return read_published(shared_data / "alpacaeval")


@pytest.fixture(scope="session")
def sources(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An operator's folder: the baseline under the hub's name, and stand-ins."""
    folder = tmp_path_factory.mktemp("alpacaeval-sources")
    real = shared_data / "alpacaeval"
    (folder / data.BASELINE).symlink_to(real / "alpaca_eval_gpt4_baseline.model_outputs.json")
    for name in data.STAND_INS.values():
        (folder / name).symlink_to(real / name)
    return folder


@pytest.fixture(scope="session")
def target(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> DataTarget:
    folder = tmp_path_factory.mktemp("alpacaeval")
    target = DataTarget(folder / "visible", folder / "held_out")
    target.visible.mkdir()
    target.held_out.mkdir()
    data.prepare(target, LocalSource(sources))
    return target
