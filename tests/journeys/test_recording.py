"""What a run leaves behind: code at every submission, labels, a sealed log, a trace, samples, a report."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.platform import Platform

pytestmark = pytest.mark.bubblewrap
RECORD = """
import json
from traces.models import *
from benchmark.models import Run
run = Run.objects.get(slug="{slug}")
recording = Recording.objects.select_related("trace").get(run=run)
print("RECORD" + json.dumps({{
    "log_sha256": recording.log_sha256, "log_bytes": recording.log_bytes, "notes": recording.notes,
    "ingested": recording.ingested_at is not None, "summary": recording.summary,
    "events": list(Event.objects.filter(trace=recording.trace).values_list("kind", flat=True)),
    "traces": list(Trace.objects.filter(run=run).values_list("name", "state", "dialect")),
    "folder": str(recording.trace.folder) if recording.trace else "",
    "snapshots": [[s.number, sorted(s.files), s.left_out, s.seconds] for s in CodeSnapshot.objects.filter(run=run)],
    "labels": [[x.number, x.methods, x.commands] for x in MethodLabel.objects.filter(run=run)],
    "samples": [[s.memory_bytes, s.processes, s.disk_bytes] for s in ResourceSample.objects.filter(run=run)],
}}))
"""


def record(platform: Platform, slug: str) -> dict[str, Any]:
    told = platform.manage("shell", "-v0", "-c", RECORD.format(slug=slug))
    found: dict[str, Any] = json.loads(told.split("RECORD", 1)[1])
    return found


def recorded(platform: Platform, slug: str, labels: int) -> dict[str, Any]:
    def done() -> bool:
        now = record(platform, slug)
        return now["ingested"] and len({number for number, *_ in now["labels"]}) == labels

    platform.until(done, 180, "the run is recorded and judged")
    return record(platform, slug)


def go_on(platform: Platform, slug: str) -> None:
    (platform.data / "runs" / slug / "workspace" / "output" / "go").touch()


def events_of(platform: Platform, slug: str) -> list[str]:
    """Kinds of those that are stored by now."""
    rows = platform.query(
        "SELECT e.kind FROM traces_event e JOIN traces_trace t ON t.id = e.trace_id "
        "JOIN benchmark_run r ON r.id = t.run_id WHERE r.slug = %s",
        slug,
    )
    return [kind for (kind,) in rows]


def sampled(platform: Platform, slug: str) -> bool:
    """Whether it was seen what the agent uses."""
    sql = "SELECT s.memory_bytes FROM traces_resourcesample s JOIN benchmark_run r ON r.id = s.run_id WHERE r.slug = %s"
    return any(memory for (memory,) in platform.query(sql, slug))


def test_a_run_that_changes_its_method_is_recorded_whole(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "two-methods:watched", agent="coding")
    platform.until(lambda: sampled(platform, slug), 120, "what the agent uses is seen")
    go_on(platform, slug)
    assert platform.ended(slug)["state"] == "finished"
    told = recorded(platform, slug, 2)
    log = (platform.data / "runs" / slug / "agent.log").read_bytes()
    assert told["log_sha256"] == hashlib.sha256(log).hexdigest()
    assert told["log_bytes"] == len(log)
    assert told["traces"] == [["agent.log", "sealed", "claude-stream"]]
    assert told["events"].count("tool_call") == 2
    assert told["notes"] == ["1 lines of summary.jsonl are no JSON objects and were left out"]
    assert "SFT, then GRPO" in told["summary"]
    assert [number for number, *_ in told["snapshots"]] == [1, 2]
    assert told["snapshots"][0][1] == ["data.bin", "submit.sh", "train_sft.py"]
    assert told["snapshots"][0][2] == {"out": "a link, not followed"}
    last = {number: methods for number, methods, _ in told["labels"]}
    assert last == {1: ["SFT"], 2: ["SFT", "GRPO"]} or last == {1: ["SFT"], 2: ["GRPO"]}
    memory, processes, disk = next(sample for sample in told["samples"] if sample[0])
    assert memory > 1 << 20
    assert processes >= 1
    assert disk > 0
    _read_by_people(platform, slug)


def _read_by_people(platform: Platform, slug: str) -> None:
    metrics = platform.get(slug, "metrics/")
    assert [(s["submission"], s["before"], s["after"]) for s in metrics["switches"]] == [(2, "SFT", "GRPO")]
    assert len(metrics["reference"]["score_trajectory"]) == 2
    page = platform.http.get(f"{platform.url}/runs/{slug}/submissions/1..2/diff").text
    assert "train_grpo.py" in page
    assert "output/sft" in page
    token = _token(platform, slug)
    code = platform.http.get(f"{platform.url}/runs/{slug}/submissions/0..1/diff").text
    assert "submit.sh" in code
    assert "•••" in code
    report = platform.http.get(f"{platform.url}/runs/{slug}/report.md").text
    assert "- Submission 2: SFT to GRPO" in report
    kept = [path.read_bytes() for path in (platform.data / "traces").rglob("*") if path.is_file()]
    assert token.encode() not in b"".join([*kept, page.encode(), code.encode(), report.encode()])


def _token(platform: Platform, slug: str) -> str:
    """As the agent wrote it into its own code."""
    text = (platform.data / "runs" / slug / "workspace" / "code" / "submit.sh").read_text()
    return text.split("/grading/")[1].split("/")[0]


def test_an_agent_cannot_rewrite_its_log_and_whoever_can_is_found_out(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "tamper:watched", agent="coding")
    platform.until(lambda: "notice" in events_of(platform, slug), 120, "what was really said is read")
    path = platform.data / "runs" / slug / "agent.log"
    with path.open("r+b") as log:
        log.write(b'{"type":"system","subtype":"init","model":"of the host"}')
    go_on(platform, slug)
    platform.ended(slug)
    assert "refused" in path.read_text()
    assert "of the agent" not in path.read_text()
    told = recorded(platform, slug, 1)
    assert told["notes"] == [
        "the log was changed after it was written: its beginning is not what was read live",
    ]
    assert ["agent.log, as it was read live", "reading", "claude-stream"] in told["traces"]


def test_events_of_a_run_under_way_are_there_while_it_lives(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "two-methods:watched", agent="coding")
    platform.until(lambda: "tool_call" in events_of(platform, slug), 120, "a tool call is among the events")
    assert platform.state(slug) == "running"
    go_on(platform, slug)
    assert platform.ended(slug)["state"] == "finished"


def test_a_worker_killed_under_a_run_leaves_a_sealed_log_and_its_trace(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "two-methods:watched", agent="coding")
    log = platform.data / "runs" / slug / "agent.log"
    platform.until(lambda: log.exists() and b"tool_use" in log.read_bytes(), 120, "the agent works")
    platform.kill("worker")
    platform.start_worker()
    assert platform.ended(slug)["fault_code"] == "worker_lost"
    platform.until(lambda: bool(record(platform, slug)["ingested"]), 180, "the log is read")
    told = record(platform, slug)
    assert told["log_sha256"] == hashlib.sha256(log.read_bytes()).hexdigest()
    assert (
        told["notes"][0] == "sealed by the sweep and not by its worker: a change since it was written would not be seen"
    )
    assert told["events"][0] == "session"
