"""Run directories of other programs: what is read from each, and what is said of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from bundles.rules.check import BundleReport, bundle_check
from bundles.rules.findings import Finding
from tests.unit.bundles.making import NOW, START, codes, transcript

EPOCH = START.timestamp()


def write(folder: Path, files: dict[str, Any]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return folder


def check(folder: Path, name: str = "run.zip") -> BundleReport:
    return bundle_check(folder, name=name, now=NOW)


def finding(report: BundleReport, code: str) -> Finding:
    return next(each for each in report.all_findings if each.code == code)


def test_the_reference_workspace(shared_data: Path) -> None:
    report = check(shared_data / "bundles" / "autorl_workspace", "upload.zip")
    run = report.runs[0].facts
    assert (run.layout, run.root, run.run) == ("workspace", "gsm8k/20260310T120000_claude", "20260310T120000_claude")
    assert (run.task, run.agent, run.agent_version, run.driver) == ("gsm8k", "claude", "2.1.78", "claude-opus-4-6")
    assert (run.base_model, run.budget_s, run.used_s) == ("Qwen/Qwen2.5-1.5B-Instruct", 43200.0, 43190.0)
    assert [(claim.score, claim.elapsed_s) for claim in run.submissions] == [
        (61.03, 2100.0),
        (None, 5200.0),
        (66.72, 9400.0),
        (66.72, 15100.0),
        (71.49, 30200.0),
    ]
    assert run.baselines == {"gsm8k": 62.93}
    assert codes(report, "error") == ["transcript_other_run", "transcript_never_submits"]
    assert set(codes(report, "warning")) == {
        "score_with_error",
        "summary_after_end",
        "same_score",
        "metric_differs",
        "transcript_outside",
    }
    assert codes(report, "info") == ["results_other_run", "log_repeats"]
    assert "names qwen3-1.7b-base 28 times" in finding(report, "transcript_other_run").text
    assert "without that it is 0.67" in finding(report, "metric_differs").text


def test_posttrainbench(shared_data: Path) -> None:
    report = check(shared_data / "bundles" / "posttrainbench")
    empty, refused, failed, scored = (run.facts for run in report.runs)
    assert {run.facts.layout for run in report.runs} == {"posttrainbench"}
    assert (empty.submissions, refused.submissions) == ([], [])
    assert (refused.exit_code, refused.outcome) == (1, "failed")
    assert (failed.submissions[0].score, failed.submissions[0].stated) == (None, None)
    assert scored.submissions[0].score == pytest.approx(70.43214556482184)
    assert scored.submissions[0].standard_error == pytest.approx(1.2570068947898675)
    assert (scored.used_s, scored.budget_s, scored.agent) == (35082.0, 36000.0, "claude-code")
    assert scored.hardware == {"gpus": [{"name": "NVIDIA H200", "count": 8}]}
    assert codes(report, "error") == []
    assert "AttributeError" in finding(report, "evaluation_failed").text


def test_one_posttrainbench_directory_zipped_without_its_folder(shared_data: Path) -> None:
    folder = shared_data / "bundles" / "posttrainbench" / "gsm8k_Qwen_Qwen3-1.7B-Base_20260318_180406"
    run = check(folder, folder.name + ".zip").runs[0].facts
    assert (run.run, run.task, run.base_model) == (folder.name, "gsm8k", "Qwen/Qwen3-1.7B-Base")


def test_stamps_judgements_and_status(tmp_path: Path) -> None:
    files = {
        "solve_out.txt": b"[2026-03-10T13:00:00Z] " + b'{"type":"system","subtype":"init","parent_tool_use_id":null}\n',
        "time_taken.txt": b"01:00:00\n",
        "cli_version.txt": b"2.1.78 (Claude Code)\n",
        "contamination_judgement.txt": b"contamination detected\nin train.py",
        "status.json": {"status": "failed", "exit_code": 0},
        "task/train.py": b"print()",
        "metrics.json": {"accuracy": float("nan")},
        "final_model/config.json": {},
    }
    report = check(write(tmp_path / "claude_opus_10h" / "gsm8k_Qwen_Qwen3-1.7B_7", files).parents[1])
    run = report.runs[0].facts
    assert (run.agent, run.driver, run.budget_s, run.agent_version) == ("claude-code", "opus", 36000.0, "2.1.78")
    assert (run.outcome, list(run.code[0])) == ("failed", ["train.py"])
    assert report.runs[0].transcripts[0].first_at is not None
    assert {"judged_elsewhere", "status_contradicts", "score_no_number", "score_not_finite"} <= set(codes(report))


def workspace(**scores: Any) -> dict[str, Any]:
    rows = scores.pop("rows", [{"submission_id": 1, "timestamp": "2026-03-10T13:00:00", "score": 50.0}])
    meta = {"start_time": EPOCH, "timeout_s": 7200, "last_submit_time": EPOCH + 3600, "end_time": EPOCH + 5000}
    return {"run_meta.json": meta | scores, "scores.json": rows, "agent.jsonl": transcript(1)}


def test_a_local_zone_is_told_from_the_last_submission(tmp_path: Path) -> None:
    rows = [
        {"submission_id": n, "timestamp": f"2026-03-10T{20 + n}:00:00", "score": 50.0, "model_path": "v"}
        for n in (0, 1)
    ]
    report = check(write(tmp_path, workspace(rows=rows)))
    assert [claim.elapsed_s for claim in report.runs[0].facts.submissions] == [0.0, 3600.0]
    assert "+8 h ahead" in finding(report, "zone_shifted").text


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("score_not_finite", b'[{"submission_id": 1, "score": NaN}]'),
        ("score_not_finite", b'[{"submission_id": 1, "score": 1e999}]'),
        ("score_no_number", b'[{"submission_id": 1, "score": "71"}]'),
        ("score_no_number", b'[{"submission_id": 1, "score": true}]'),
        ("score_range", b'[{"submission_id": 1, "score": -3}]'),
        ("scores_unreadable", b'{"scores": []}'),
        ("scores_unreadable", b"[1, 2]"),
        ("scores_unreadable", b"[{"),
        ("scores_unreadable", b""),
        ("baseline_varies", b'[{"score": 1, "baseline_score": 1}, {"score": 2, "baseline_score": 2}]'),
        ("improvement_differs", b'[{"score": 60, "baseline_score": 50, "improvement": 20}]'),
        ("time_future", b'[{"score": 60, "timestamp": "2031-01-01T00:00:00"}]'),
    ],
)
def test_bad_scores(tmp_path: Path, code: str, rows: bytes) -> None:
    assert code in codes(check(write(tmp_path, workspace() | {"scores.json": rows})))


@pytest.mark.parametrize("meta", [b"{", b"", b"\xff"])
def test_a_file_that_cannot_be_read_does_not_hide_the_rest(tmp_path: Path, meta: bytes) -> None:
    report = check(write(tmp_path, workspace() | {"run_meta.json": meta}))
    assert finding(report, "file_unreadable").place == "run_meta.json"
    assert len(report.runs[0].facts.scored) == 1


def test_a_result_directory_without_its_time(tmp_path: Path) -> None:
    assert "time_missing" in codes(check(write(tmp_path, {"solve_out.txt": transcript(0)})))


def test_missing_files_are_named_by_their_path(tmp_path: Path) -> None:
    report = check(write(tmp_path, {"a/b/scores.json": [], "a/b/agent.jsonl": transcript(0)}))
    assert finding(report, "meta_missing").place == "a/b/run_meta.json"


def test_a_run_folder_of_ours(tmp_path: Path) -> None:
    meta = workspace()["run_meta.json"] | {"run_id": "20261129-0214-3f9a1c", "task": "gsm8k", "mode": "rl-oriented"}
    files = {f"20261129-0214-3f9a1c/workspace/{name}": data for name, data in workspace().items()}
    files["20261129-0214-3f9a1c/workspace/run_meta.json"] = meta | {"base_model": "tiny"}
    files["20261129-0214-3f9a1c/workspace/output/v1/model.safetensors"] = b"weights"
    files["20261129-0214-3f9a1c/agent.log"] = transcript(1)
    report = check(write(tmp_path, files))
    run = report.runs[0].facts
    assert (run.run, run.task, run.mode, run.base_model) == ("20261129-0214-3f9a1c", "gsm8k", "rl-oriented", "tiny")
    assert list(run.ignored) == ["20261129-0214-3f9a1c/workspace/output/v1/model.safetensors"]
    assert run.transcripts == ["20261129-0214-3f9a1c/workspace/agent.jsonl"]


def trial(name: str, **more: Any) -> dict[str, Any]:
    return {
        "task_name": "agent2/gsm8k",
        "trial_name": name,
        "agent_info": {
            "name": "claude-code",
            "version": "2.1",
            "model_info": {"name": "claude-opus-4-6", "provider": "x"},
        },
        "agent_result": {"n_input_tokens": 900, "n_output_tokens": 100, "cost_usd": 1.0},
        "config": {"agent": {"override_timeout_sec": 7200.0}, "environment": {"override_gpus": 8}},
        "agent_execution": {"started_at": "2026-03-10T12:00:00", "finished_at": "2026-03-10T13:30:00"},
        "verifier_result": {"rewards": {"reward": 0.715}},
        **more,
    }


def test_a_harbor_job(tmp_path: Path) -> None:
    raised = {"exception_type": "AgentTimeoutError", "exception_message": "Agent timed out after 7200 s"}
    atif = {"schema_version": "ATIF-v1.6", "session_id": "a", "agent": {"name": "claude-code"}, "steps": []}
    files = {
        "job/result.json": {"id": "1", "n_total_trials": 2},
        "job/config.json": {"jobs_dir": "jobs"},
        "job/gsm8k__a/result.json": trial("gsm8k__a"),
        "job/gsm8k__a/agent/trajectory.json": atif,
        "job/gsm8k__a/agent/claude-code.txt": b"log",
        "job/gsm8k__a/verifier/reward.txt": b"0.715\n",
        "job/gsm8k__a/artifacts/train.py": b"print()",
        "job/gsm8k__a/trial.log": b"...",
        "job/gsm8k__b/result.json": trial("gsm8k__b", verifier_result=None, exception_info=raised),
        "job/gsm8k__b/verifier/reward.txt": b"1",
    }
    report = check(write(tmp_path, files))
    first, second = (run.facts for run in report.runs)
    assert (first.layout, first.task, first.agent, first.driver) == (
        "harbor",
        "gsm8k",
        "claude-code",
        "claude-opus-4-6",
    )
    assert (first.budget_s, first.used_s, first.tokens, first.hardware) == (7200.0, 5400.0, 1000, {"gpu_count": 8})
    assert first.submissions[0].score == pytest.approx(71.5)
    assert first.transcripts == ["job/gsm8k__a/agent/trajectory.json"]
    assert list(first.code[0]) == ["train.py"]
    assert (second.submissions[0].score, second.outcome) == (None, "timed_out")
    assert "timed out" in finding(report, "evaluation_failed").text
    assert {"reward_as_share", "reward_differs", "several_runs"} <= set(codes(report))
    assert "transcript_never_submits" not in codes(report)


def test_an_atif_trajectory_with_scores(tmp_path: Path, shared_data: Path) -> None:
    document = (shared_data / "traces" / "atif_multi_tool.json").read_bytes()
    scores = [{"submission_id": 1, "score": 40.0, "baseline_score": 30.0}]
    report = check(write(tmp_path, {"trajectory.json": document, "scores.json": scores}))
    run = report.runs[0].facts
    assert (run.layout, run.agent, run.driver) == ("atif", "research-analyst", "gpt-4-turbo")
    assert (run.run, run.submissions[0].score) == ("sess-def456-multi", 40.0)


def test_what_lies_inside_a_run_is_part_of_it(tmp_path: Path) -> None:
    files = workspace() | {f"code/sample/{name}": data for name, data in workspace().items()}
    assert [run.root for run in check(write(tmp_path, files)).runs] == [""]


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    folder = write(tmp_path / "run", workspace())
    (folder / "data").symlink_to(tmp_path)
    report = check(folder)
    assert "link_left_out" in codes(report)
    assert not any("secret" in each.path for each in report.files)
