"""What workers keep of base models, and what they tell of a runner that left nothing."""

from pathlib import Path
from typing import Any

import pytest

from benchmark.sandbox.contract import Exit, SandboxFault
from grading.intake import BaseFacts
from grading.intake.tokenizer_checks import TokenizerFacts
from grading.services import places
from grading.services.sandbox_runner import _verdict


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> list[Path]:
    """Folders whose files were read; they are current without any."""
    settings.DATA_DIR = tmp_path / "data"
    asked: list[Path] = []

    def facts(folder: Path) -> BaseFacts:
        asked.append(folder)
        return BaseFacts(folder, {}, {}, {}, {}, "w", TokenizerFacts(), {})

    monkeypatch.setattr(places, "base_facts", facts)
    monkeypatch.setattr(BaseFacts, "is_current", lambda _self: True)
    return asked


def test_facts_of_a_base_model_are_read_once_and_anew_where_what_is_kept_is_not_whole(
    read: list[Path], settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        monkeypatch.setattr(places, "_facts", {})
        assert places.facts_of_base(tmp_path).weights_digest == "w"
    assert read == [tmp_path]
    (kept,) = (settings.DATA_DIR / "base_facts").glob("*.json")
    kept.write_text(kept.read_text()[:20])
    monkeypatch.setattr(places, "_facts", {})
    assert places.facts_of_base(tmp_path).weights_digest == "w"
    assert read == [tmp_path] * 2


def test_a_runner_without_a_verdict_is_told_by_the_end_of_its_log(tmp_path: Path) -> None:
    with pytest.raises(SandboxFault, match="ended with code 9 and left no verdict"):
        _verdict(tmp_path, Exit(9), tmp_path / "log")
    (tmp_path / "log").write_bytes(b"first " + b"x" * 5000 + b" last\n")
    with pytest.raises(SandboxFault) as told:
        _verdict(tmp_path, Exit(9), tmp_path / "log")
    assert "last\n" in str(told.value)
    assert "first" not in str(told.value)
