"""Integrity evidence reaches the report, and refuses nothing."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.catalogue import task_get
from benchmark.services.task_data import task_data_here, task_store
from bundles.models import BundleState
from tests.db.bundles.conftest import Make
from tests.support.bundling import FOLDER, bundle_bytes

pytestmark = pytest.mark.django_db(transaction=True)
ITEM = "Janet sells her sixteen duck eggs at the farmers market every day for two dollars each and bakes muffins"


def test_a_held_out_item_in_the_code(checked: Make, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    assert task_data_here(task_get("gsm8k")) is None
    held_out = task_store(task_get("gsm8k")) / "held_out"
    held_out.mkdir(parents=True)
    (held_out / "test.jsonl").write_text(json.dumps({"question": ITEM, "answer": "#### 18"}) + "\n")
    bundle = checked(bundle_bytes(**{f"{FOLDER}/code/data.py": f"rows = ['{ITEM}']".encode()}))
    assert bundle.state == BundleState.ACCEPTED
    found = [each for each in bundle.report["findings"] if each["code"] == "held_out_overlap"]
    assert [(each["severity"], each["kind"]) for each in found] == [("warning", "Integrity")]
    assert ITEM not in json.dumps(bundle.report)
    assert not [each for each in checked().report["findings"] if each["code"] == "held_out_overlap"]
