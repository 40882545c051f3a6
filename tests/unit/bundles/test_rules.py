"""A consistent bundle passes; each way of being wrong is found, under its own code."""

import json
import time
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bundles.format.schema import MANIFEST_SCHEMA
from bundles.format.schema_check import schema_faults
from bundles.format.words import MANIFEST_LIMIT
from bundles.packer.cli import main
from bundles.rules.catalogue import CATALOGUE
from tests.unit.bundles.making import START, Change, bundle, check, codes, manifest, stamp, submission, transcript
from tests.unit.bundles.test_dialects import workspace, write

SCHEMA_FILE = Path(__file__).parents[3] / "bundles" / "format" / "manifest-1.0.schema.json"


def put(*path: Any, value: Any) -> Change:
    """Sets one member of the manifest."""

    def change(told: dict[str, Any]) -> None:
        here: Any = told
        for part in path[:-1]:
            here = here[part]
        here[path[-1]] = value

    return change


def drop(name: str) -> Change:
    return lambda told: told.pop(name)


def many(told: dict[str, Any]) -> None:
    told["submissions"] = [
        submission(n, 50 + n / 1000, n / 3600, model_path="output", grading_s=60.0) for n in range(1, 400)
    ]
    told |= {"ended_at": stamp(400 / 3600), "best": 50.399}


CHANGES: list[tuple[str, Change]] = [
    ("manifest_schema", put("mode", value="cheat")),
    ("manifest_schema", put("submissions", 0, "digest", value="abc")),
    ("manifest_schema", put("submissions", 0, "score", value=101)),
    ("manifest_schema", put("surprise", value=1)),
    ("manifest_schema", put("started_at", value="yesterday")),
    ("manifest_schema", drop("agent")),
    ("manifest_version", put("version", value="2.0")),
    ("manifest_not_finite", put("submissions", 0, "score", value=float("nan"))),
    ("manifest_not_finite", put("budget_s", value=float("inf"))),
    ("score_not_finite", put("submissions", 0, "score", value=float("nan"))),
    ("score_range", put("baselines", "gsm8k", value=-1)),
    ("manifest_schema", put("submissions", 0, "score", value="61")),
    ("same_as_cycle", lambda told: [each.update(same_as=4 - each["number"]) for each in told["submissions"]]),
    ("same_as_cycle", put("submissions", 0, "same_as", value=1)),
    ("same_as_unknown", put("submissions", 0, "same_as", value=9)),
    ("number_twice", put("submissions", 1, "number", value=1)),
    ("best_differs", put("best", value=80.0)),
    ("improvement_differs", put("submissions", 0, "improvement", value=5.0)),
    ("same_digest", lambda told: told["submissions"][0].update(digest=told["submissions"][2]["digest"])),
    ("same_score", lambda told: [each.update(score=71.5, digest=None) for each in told["submissions"]]),
    ("scores_look_like_shares", lambda told: [each.update(score=each["number"] / 10) for each in told["submissions"]]),
    ("time_future", put("ended_at", value="2027-01-01T00:00:00Z")),
    ("time_future", put("submissions", 2, "at", value="2099-01-01T00:00:00Z")),
    ("time_implausible", put("started_at", value="1970-01-01T00:00:00Z")),
    ("end_before_start", put("ended_at", value=stamp(-1))),
    ("time_before_start", put("submissions", 0, "at", value=stamp(-2))),
    ("time_after_end", put("submissions", 2, "at", value=stamp(12))),
    ("time_order", put("submissions", 2, "at", value=stamp(0.5))),
    ("elapsed_differs", put("submissions", 2, "elapsed_s", value=9000.0)),
    ("budget_overrun", put("budget_s", value=3600)),
    ("too_many", many),
    ("too_many", lambda told: [each.update(grading_s=400_000.0) for each in told["submissions"]]),
    ("nothing_submitted", put("submissions", value=[])),
    ("mode_unknown", put("mode", value="cheat")),
    ("task_missing", put("task", value=" ")),
    ("agent_missing", put("agent", "name", value=" ")),
    ("base_missing", put("base_model", "name", value=" ")),
    ("task_unknown", put("task", value="chess")),
    ("base_unknown", put("base_model", "name", value="Other/Model")),
    ("protocol_differs", put("protocol", value="gsm8k/0")),
    ("tokens_differ", put("tokens", value=5)),
    *((f"{name}_missing", drop(name)) for name in ("protocol", "hardware", "seeds", "contact", "licence")),
    *(("baseline_missing", drop("baselines")), ("budget_missing", drop("budget_s")), ("mode_missing", drop("mode"))),
    ("driver_missing", drop("driver")),
    ("agent_version_missing", put("agent", value={"name": "x"})),
    ("revision_missing", put("base_model", value={"name": "Qwen/Qwen2.5-1.5B-Instruct"})),
    ("digests_missing", lambda told: [each.pop("digest") for each in told["submissions"]]),
]
SPOILED: list[tuple[str, Change]] = [
    ("manifest_file_missing", lambda told: told["files"].append(told["files"][0] | {"path": "gone.txt"})),
    ("manifest_file_extra", lambda told: told["files"].pop(1)),
    ("manifest_size", put("files", 0, "size", value=3)),
    ("manifest_digest", put("files", 0, "sha256", value="0" * 64)),
    ("manifest_twice", lambda told: told["files"].append(told["files"][0])),
    ("manifest_name", put("files", 0, "path", value="../../etc/passwd")),
    ("manifest_name", put("files", 0, "path", value="a\u202eb.txt")),
    ("code_missing", put("files", 1, "role", value="other")),
    ("samples_missing", put("files", 2, "role", value="other")),
    ("transcript_missing", put("files", 0, "role", value="other")),
]
TEXTS: list[tuple[str, bytes]] = [
    ("manifest_empty", b" \n"),
    ("manifest_invalid", b'{"format": "agent2-bundle", '),
    ("manifest_not_utf8", b'{"format": "agent2-bundle", "run": "\xff"}'),
    ("manifest_duplicate_key", b'{"format": "agent2-bundle", "task": "a", "task": "b"}'),
    ("manifest_too_deep", b'{"format": "agent2-bundle", "notes": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    ("manifest_yaml", b"format: agent2-bundle\nversion: 1.0\n"),
    ("manifest_yaml_tag", b"format: agent2-bundle\nrun: !!python/object/apply:os.system ['true']\n"),
    ("manifest_yaml_alias", b"format: agent2-bundle\nnotes: &a [*a, *a]\n"),
    ("manifest_schema", b'["agent2-bundle"]'),
]


def told(code: str, report: Any) -> None:
    finding = next(each for each in report.all_findings if each.code == code)
    assert finding.text
    assert finding.title
    assert finding.severity == CATALOGUE[code].severity
    assert finding.fix or finding.severity in ("info", "warning"), code


def test_a_consistent_bundle(tmp_path: Path) -> None:
    report = check(bundle(tmp_path))
    assert codes(report) == []
    run = report.runs[0]
    assert (run.facts.task, run.facts.used_s, len(run.facts.scored)) == ("gsm8k", 41400.0, 2)
    assert len(run.passed) > 40
    assert [(each.path, each.read) for each in report.files] == [
        ("code/train.py", "read"),
        ("manifest.json", "read"),
        ("samples/3.jsonl", "kept"),
        ("transcripts/agent.jsonl", "read"),
    ]
    assert json.loads(json.dumps(report.as_data(), allow_nan=False))["has_errors"] is False


@pytest.mark.parametrize(("code", "change"), CHANGES, ids=[code for code, _ in CHANGES])
def test_what_the_manifest_says(tmp_path: Path, code: str, change: Change) -> None:
    agent = None
    if code == "tokens_differ":
        usage = {"type": "result", "session_id": "s", "usage": {"input_tokens": 9000, "output_tokens": 1000}}
        agent = transcript() + json.dumps(usage).encode() + b"\n"
    report = check(bundle(tmp_path, change, agent=agent))
    assert code in codes(report)
    told(code, report)
    json.dumps(report.as_data(), allow_nan=False)


@pytest.mark.parametrize(("code", "spoil"), SPOILED, ids=[code for code, _ in SPOILED])
def test_the_list_of_files(tmp_path: Path, code: str, spoil: Change) -> None:
    report = check(bundle(tmp_path, spoil=spoil))
    assert code in codes(report)
    told(code, report)


@pytest.mark.parametrize(("code", "text"), TEXTS, ids=[code for code, _ in TEXTS])
def test_manifests_that_cannot_be_read(tmp_path: Path, code: str, text: bytes) -> None:
    bundle(tmp_path)
    name = "manifest.yaml" if code.startswith("manifest_yaml") else "manifest.json"
    (tmp_path / "manifest.json").unlink()
    (tmp_path / name).write_bytes(text)
    report = check(tmp_path)
    if code == "manifest_empty":
        assert codes(report, "error") == ["no_run"]
        return
    assert code in codes(report, "error")
    told(code, report)


def test_a_manifest_of_100_mb_is_not_read(tmp_path: Path) -> None:
    bundle(tmp_path)
    with (tmp_path / "manifest.json").open("r+b") as file:
        file.truncate(100 << 20)
    assert (tmp_path / "manifest.json").stat().st_size > MANIFEST_LIMIT
    assert "manifest_too_large" in codes(check(tmp_path), "error")


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("transcript_never_submits", transcript(0) + b'{"type":"user","message":"POST to /submit when done"}\n'),
        ("transcript_other_run", transcript() + b"Qwen3-4B-Base\n" * 6),
        ("transcript_empty", b""),
        ("transcript_cut", transcript() + b'{"type": "assist'),
        ("transcript_unknown", b"curl $URL/submit\n"),
        ("transcript_outside", transcript(day=START + timedelta(days=9))),
        ("transcript_skew", transcript() + transcript()),
        ("held_out_mentioned", transcript() + b'{"input": {"command": "load_dataset(\'gsm8k\', split=\'test\')"}}\n'),
    ],
)
def test_transcripts(tmp_path: Path, code: str, data: bytes) -> None:
    report = check(bundle(tmp_path, agent=data))
    assert code in codes(report)
    told(code, report)


def test_what_was_only_read_is_no_submission_and_no_mention(tmp_path: Path) -> None:
    result = {"type": "user", "message": {"content": [{"type": "tool_result", "content": "split='test' held_out/ x"}]}}
    data = transcript() + json.dumps(result).encode() + b"\n"
    assert "held_out_mentioned" not in codes(check(bundle(tmp_path, agent=data)))


@pytest.mark.parametrize(
    ("code", "metrics"),
    [("trajectory_cycle", None), ("tokens_differ", {"total_prompt_tokens": 5000, "total_completion_tokens": 1})],
)
def test_atif(tmp_path: Path, code: str, metrics: dict[str, int] | None) -> None:
    steps = [
        {"step_id": n, "source": "agent", "metrics": {"prompt_tokens": 10, "completion_tokens": 5}} for n in (1, 2)
    ]
    document: dict[str, Any] = {"schema_version": "ATIF-v1.6", "session_id": "a", "steps": steps}
    document |= {"final_metrics": metrics} if metrics else {"continued_trajectory_ref": "agent.jsonl"}
    data = json.dumps(document, indent=1).encode()
    assert code in codes(check(bundle(tmp_path, agent=data)))


def test_what_is_nested_deeply_is_a_fault_and_no_crash(tmp_path: Path) -> None:
    bundle(tmp_path)
    text = (tmp_path / "manifest.json").read_text()
    deep = '{"a":' * 300 + "1" + "}" * 300
    (tmp_path / "manifest.json").write_text(text.replace('"hardware": {', f'"hardware": {{"x": {deep}, ', 1))
    report = check(tmp_path)
    assert "manifest_schema" in codes(report, "error")
    assert len(json.dumps(report.as_data())) < 100_000


def test_hostile_sizes_take_no_time(tmp_path: Path) -> None:
    """Everything that is counted is counted in one pass."""
    keys = ",".join(f'"k{n}": 1' for n in range(300_000)) + ', "k299999": 2'
    bundle(tmp_path / "a")
    (tmp_path / "a" / "manifest.json").write_text('{"format": "agent2-bundle", ' + keys + "}")
    many = [submission(n % 5000, 1.0, 1.0, same_as=n % 5000 + 1) for n in range(10_000)]
    bundle(tmp_path / "b", put("submissions", value=many))
    chain = [{"trajectory_id": f"t{n}", "continued_trajectory_ref": f"t{n + 1}"} for n in range(60_000)]
    document = {"schema_version": "ATIF-v1.6", "session_id": "a", "subagent_trajectories": chain}
    bundle(tmp_path / "c", agent=json.dumps(document).encode())
    began = time.process_time()
    check(tmp_path / "c")
    assert "manifest_duplicate_key" in codes(check(tmp_path / "a"))
    assert {"number_twice", "same_as_unknown"} <= set(codes(check(tmp_path / "b")))
    assert time.process_time() - began < 8


def test_no_run_names_what_was_expected(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    report = check(tmp_path)
    assert codes(report) == ["no_run"]
    assert "run_meta.json" in report.findings[0].text
    assert "notes.txt" in report.findings[0].text


def test_details_fill_gaps_and_change_nothing(tmp_path: Path) -> None:
    details = {"licence": "MIT", "task": "humaneval", "seeds": [1], "contact": {"email": "a@example.org"}}
    report = check(bundle(tmp_path, drop("licence")), details=details)
    run = report.runs[0].facts
    assert (run.licence, run.task, run.seeds, run.contact) == ("MIT", "gsm8k", [42], {"name": "Ada"})
    assert codes(report) == []


def test_the_schema_file_is_the_schema() -> None:
    assert json.loads(SCHEMA_FILE.read_text(encoding="utf-8")) == MANIFEST_SCHEMA
    jsonschema.Draft202012Validator.check_schema(MANIFEST_SCHEMA)


@pytest.mark.parametrize("change", [None, *(change for code, change in CHANGES if code == "manifest_schema")])
def test_our_check_of_the_schema_agrees_with_jsonschema(change: Change | None) -> None:
    told = manifest() | {"files": []}
    if change is not None:
        change(told)
    theirs = list(jsonschema.Draft202012Validator(MANIFEST_SCHEMA).iter_errors(told))
    assert bool(schema_faults(told, MANIFEST_SCHEMA)) == bool(theirs) == (change is not None)


def packed(folder: Path, change: Change) -> Path:
    """A workspace with a manifest that was changed after it was made."""
    files = workspace(rows=[{"submission_id": n, "score": 50.0 + n, "model_path": f"v{n}"} for n in (1, 2)])
    write(folder / "run", files)
    given = ["--set", "task=gsm8k", "--set", "agent.name=a", "--set", "base_model.name=b"]
    assert main(["pack", str(folder / "run"), "-o", str(folder / "run.zip"), *given]) == 0
    with zipfile.ZipFile(folder / "run.zip") as archive:
        archive.extractall(folder / "into")
    told = json.loads((folder / "into" / "manifest.json").read_text())
    change(told)
    (folder / "into" / "manifest.json").write_text(json.dumps(told))
    return folder / "into"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            put("submissions", 0, "score", value=90.0),
            "Submission 1 has 90.0 in the manifest, 51.0 in the run's own files",
        ),
        (put("submissions", 0, "score", value=None), "Submission 1 has None in the manifest"),
        (lambda told: told["submissions"].pop(), "Submission 2 stands only in the run's own files"),
        (lambda told: told["submissions"].append(submission(3, 1.0, 1)), "Submission 3 stands only in the manifest"),
    ],
)
def test_a_manifest_against_the_files_it_was_made_from(tmp_path: Path, change: Change, text: str) -> None:
    report = check(packed(tmp_path, change))
    assert text in next(each for each in report.all_findings if each.code == "manifest_differs").text


def test_the_count_of_results_csv(tmp_path: Path) -> None:
    write(tmp_path / "gsm8k" / "20260310T120000_claude", workspace())
    head, row = "run_id,task,agent,best_score,submissions", "20260310T120000,gsm8k,claude,50.0,7"
    (tmp_path / "results.csv").write_text(f"{head}\n{row}\n")
    assert "count_differs" in codes(check(tmp_path))


def test_every_finding_is_tried_by_some_test() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert [
        code for code in CATALOGUE if f'"{code}"' not in texts and f'"{code.removesuffix("_missing")}"' not in texts
    ] == []
