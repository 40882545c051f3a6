"""The repository's numbers against the transcript of the paper's tables, where it is at hand."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from frontend.published import behaviour, designs, scores


@pytest.fixture
def transcript(shared_data: Path) -> Any:
    path = shared_data.parent / "paper" / "published_results.yaml"
    if not path.is_file():
        pytest.skip(f"no transcript of the paper's tables at {path}")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_scores(transcript: Any) -> None:
    data = scores()
    assert data.baselines == transcript["baselines"]
    mine = [
        {"table": r.table, "base_model": r.base_model, "agent": r.agent, "driver": r.driver, "mode": r.mode, **r.scores}
        for r in data.rows
    ]
    assert mine == transcript["runs"]
    assert {task: transcript["best_observed_row"][task] for task in data.tasks} == data.printed_best_observed.scores
    assert [dict(printed.gains) for printed in data.printed_gains] == [
        {task: printed[task] for task in data.tasks} for printed in transcript["deltas_as_printed"]
    ]


def test_designs(transcript: Any) -> None:
    for task, told in transcript["task_overview"].items():
        assert (designs()[task].level, dict(designs()[task].design)) == (told["level"], told["design"])
        assert designs()[task].horizon == told["horizon"]


def test_behaviour(transcript: Any) -> None:
    numbers = ("task", "mode", "submissions", "code_files", "model_versions", "zero_rate", "best_at")
    assert [{name: getattr(one, name) for name in numbers} for one in behaviour().workspaces] == [
        {name: one[name] for name in numbers} for one in transcript["workspace_statistics"]
    ]
    assert [(one.attempted, one.adopted, one.printed_rate) for one in behaviour().adoption] == [
        (one["attempted"], one["adopted"], one["rate_as_printed"]) for one in transcript["method_adoption"]
    ]
    for walk in behaviour().walkthroughs:
        assert [(s.submission, s.script, s.score, s.method, s.printed_jump) for s in walk.steps] == [
            (s["submission"], s["script"], s["score"], s["method"], s.get("jump_as_printed"))
            for s in transcript["trace_walkthroughs"][walk.task]
        ]
    assert [[(t.method, t.variants) for t in one.tried] for one in behaviour().rl_audit] == [
        [(t["method"], t.get("variants")) for t in one["tried"]] for one in transcript["rl_method_audit"]
    ]
    assert [(one.submissions, one.best_gain) for one in behaviour().styles] == [
        (one["submissions"], one["best_delta"]) for one in transcript["behaviour_comparison_deepsearchqa"]
    ]
