"""A checkpoint of real size, where one is at hand: any folder that AGENT2_TEST_CHECKPOINT names."""

import os
import shutil
import time
from pathlib import Path, PurePosixPath

import pytest

from grading.intake import BaseFacts, IntakeReport, View, base_facts, checkpoint_take

CHECKPOINT = os.environ.get("AGENT2_TEST_CHECKPOINT", "")
WORKSPACE = PurePosixPath("/workspace")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHECKPOINT, reason="AGENT2_TEST_CHECKPOINT names no checkpoint folder"),
]


@pytest.fixture(scope="module")
def base() -> BaseFacts:
    return base_facts(Path(CHECKPOINT))


def take(base: BaseFacts, workspace: Path, path: str) -> IntakeReport:
    view = View(((WORKSPACE, workspace), (WORKSPACE / "models/base", base.folder)))
    started = time.monotonic()
    report = checkpoint_take(
        view=view, workspace=WORKSPACE, model_path=path, base=base, store=workspace.parent / f"{workspace.name}-store"
    )
    seconds = time.monotonic() - started
    print(f"{path}: {report.bytes / 1e6:.0f} MB in {seconds:.2f} s, {report.bytes / 1e6 / seconds:.0f} MB/s")
    return report


def test_the_base_and_one_changed_weight(base: BaseFacts, tmp_path: Path) -> None:
    assert take(base, tmp_path, "models/base").equals_base
    shutil.copytree(base.folder, tmp_path / "ckpt")
    name, tensor = max(base.tensors.items(), key=lambda item: item[1].elements)
    with (tmp_path / "ckpt" / tensor.file).open("r+b") as file:
        file.seek(tensor.end - 2)
        last = file.read(1)
        file.seek(tensor.end - 2)
        file.write(bytes([last[0] ^ 1]))
    report = take(base, tmp_path, "ckpt")
    assert [each.code for each in report.findings] == ["W_EQUALS_BASE"]
    assert not report.equals_base
    assert report.distance is not None
    assert report.distance.changed == 1
    assert name in base.scans
