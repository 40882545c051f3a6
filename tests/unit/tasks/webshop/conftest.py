"""The prepared task and its shop, made once from the real files."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmark.tasks.contract import Item
from benchmark.tasks.data_contract import DataTarget, DataUnavailable
from benchmark.tasks.webshop import data
from benchmark.tasks.webshop.evaluator import WebShop
from benchmark.tasks.webshop.webshop_env import Goal, Shop


class FolderSource:
    """A `DataSource` that has what lies in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str, *, sha256: str | None, url: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise DataUnavailable(f"{path} is missing. It comes from {url}.")
        return path


@pytest.fixture(scope="session")
def webshop_files(shared_data: Path) -> Path:
    return shared_data / "webshop"


@pytest.fixture(scope="session")
def prepared(webshop_files: Path, tmp_path_factory: pytest.TempPathFactory) -> DataTarget:
    folder = tmp_path_factory.mktemp("webshop")
    target = DataTarget(visible=folder / "visible", held_out=folder / "held_out")
    target.visible.mkdir()
    target.held_out.mkdir()
    data.prepare(target, FolderSource(webshop_files))
    return target


@pytest.fixture(scope="session")
def items(prepared: DataTarget) -> Sequence[Item]:
    return WebShop().items(prepared.held_out)


@pytest.fixture(scope="session")
def shop(items: Sequence[Item]) -> Shop:
    found = items[0].payload["shop"]
    assert isinstance(found, Shop)
    return found


@pytest.fixture(scope="session")
def goals(items: Sequence[Item]) -> list[Goal]:
    return [item.payload["goal"] for item in items]
