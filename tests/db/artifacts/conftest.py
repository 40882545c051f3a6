"""A real server that speaks S3, and a data folder whose sealed files go there."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.artifacts.s3 import S3Artifacts
from benchmark.services import artifacts_storing
from tests.support.object_storage import ObjectServer, object_server


@pytest.fixture(scope="session")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectServer]:
    with object_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def server(started: ObjectServer) -> Iterator[ObjectServer]:
    """With an empty bucket, and its gate open."""
    started.empty()
    yield started
    started.gate.shut()
    started.gate.open()


@pytest.fixture
def bucket(server: ObjectServer) -> S3Artifacts:
    return S3Artifacts(**server.options)


@pytest.fixture
def site(server: ObjectServer, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectServer:
    """The settings of a deployment with object storage, over an empty data folder."""
    settings.DATA_DIR = tmp_path / "data"
    settings.TRACES_DIR, settings.BUNDLES_DIR = settings.DATA_DIR / "traces", settings.DATA_DIR / "bundles"
    artifacts = {"BACKEND": "benchmark.artifacts.s3.S3Artifacts", "OPTIONS": server.options}
    settings.STORAGES = settings.STORAGES | {"artifacts": artifacts}
    monkeypatch.setattr(artifacts_storing, "_faulty", {})
    monkeypatch.setattr(artifacts_storing, "_state", {"down": False})
    return server
