"""A consistent run as a bundle's folder, and ways to spoil it."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bundles.rules.check import BundleReport, bundle_check
from bundles.rules.findings import Finding
from bundles.rules.known import Known

START = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
NOW = datetime(2026, 4, 1, tzinfo=UTC)
KNOWN = Known(tasks={"gsm8k": "gsm8k/1"}, base_models=("Qwen/Qwen2.5-1.5B-Instruct",))
Change = Callable[[dict[str, Any]], Any]


def stamp(hours: float) -> str:
    return (START + timedelta(hours=hours)).isoformat().replace("+00:00", "Z")


def submission(number: int, score: float | None, hours: float, **more: Any) -> dict[str, Any]:
    digest = hashlib.sha256(b"%d" % number).hexdigest()
    facts = {"model_path": f"output/v{number}", "digest": digest, "grading_s": 300.0, "elapsed_s": 3600.0 * hours}
    return {"number": number, "task": "gsm8k", "at": stamp(hours), "score": score, **facts, **more}


def transcript(submits: int = 3, *, day: datetime = START) -> bytes:
    lines: list[dict[str, Any]] = [{"type": "system", "subtype": "init", "session_id": "s", "parent_tool_use_id": None}]
    for number in range(1, submits + 1):
        call = {"type": "tool_use", "id": f"c{number}", "input": {"command": f"curl $URL/submit -d output/v{number}"}}
        lines.append({"type": "assistant", "message": {"id": f"m{number}", "content": [call]}})
        lines.append({"type": "user", "timestamp": (day + timedelta(hours=number)).isoformat(), "message": {}})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def files() -> dict[str, tuple[str, bytes]]:
    """Path → role and contents."""
    return {
        "transcripts/agent.jsonl": ("transcript", transcript()),
        "code/train.py": ("code", b"from trl import GRPOTrainer\n"),
        "samples/3.jsonl": ("samples", b'{"id": 1, "score": 1.0}\n'),
    }


def manifest() -> dict[str, Any]:
    return {
        "format": "agent2-bundle",
        "version": "1.0",
        "layout": "agent2",
        "run": "20260310-1200-abcdef",
        "task": "gsm8k",
        "protocol": "gsm8k/1",
        "agent": {"name": "claude-code", "version": "2.1"},
        "driver": {"name": "claude-opus-4-6"},
        "base_model": {"name": "Qwen/Qwen2.5-1.5B-Instruct", "revision": "989aa79"},
        "mode": "free",
        "budget_s": 43200,
        "started_at": stamp(0),
        "ended_at": stamp(11.5),
        "outcome": "finished",
        "hardware": {"gpus": [{"name": "NVIDIA H200", "count": 8}]},
        "seeds": [42],
        "baselines": {"gsm8k": 62.93},
        "best": 71.5,
        "submissions": [submission(1, 61.0, 1), submission(2, None, 2, error="OOM"), submission(3, 71.5, 3)],
        "contact": {"name": "Ada"},
        "licence": "CC-BY-4.0",
    }


def bundle(folder: Path, change: Change | None = None, spoil: Change | None = None, agent: bytes | None = None) -> Path:
    """Write a bundle. `change` gets the manifest before the files are listed in it, `spoil` afterwards.

    `agent` is another transcript.
    """
    told = manifest()
    if change is not None:
        change(told)
    contents = files()
    if agent is not None:
        contents["transcripts/agent.jsonl"] = ("transcript", agent)
    told["files"] = []
    for path, (role, data) in contents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        told["files"].append({"path": path, "size": len(data), "sha256": digest, "role": role})
    if spoil is not None:
        spoil(told)
    (folder / "manifest.json").write_text(json.dumps(told), encoding="utf-8")
    return folder


def check(folder: Path, **more: Any) -> BundleReport:
    return bundle_check(folder, name="run.zip", **{"known": KNOWN, "now": NOW, **more})


def codes(report: BundleReport, *severities: str) -> list[str]:
    """Codes of the findings, of all severities when none is named."""
    every: list[Finding] = report.all_findings
    return [finding.code for finding in every if not severities or finding.severity in severities]
