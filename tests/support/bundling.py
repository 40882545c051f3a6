"""Archives of small runs, made as outside teams make them: a workspace in the reference's layout."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

START = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
FOLDER = "gsm8k/20260310T120000_claude"
DETAILS: Mapping[str, Any] = {
    "protocol": "gsm8k/1",
    "driver": {"name": "claude-opus-4-6"},
    "base_model": {"name": "Qwen/Qwen2.5-1.5B-Instruct", "revision": "main"},
    "contact": {"name": "Ada"},
    "licence": "CC-BY-4.0",
}
CODE = "from trl import SFTTrainer\n\nSFTTrainer(model=model, train_dataset=data).train()\n"
Score = float | None


def workspace_files(scores: Sequence[Score] = (61.0, None, 70.5), *, baseline: float = 60.0) -> dict[str, bytes]:
    """Path → content. One submission an hour; the transcript submits each of them."""
    end = START + timedelta(hours=len(scores) + 1)
    meta: dict[str, Any] = {
        "start_time": START.timestamp(),
        "timeout_s": 43200,
        "last_submit_time": None,
        "end_time": end.timestamp(),
    }
    meta |= {"task": "gsm8k", "agent": "claude", "base_model": DETAILS["base_model"]["name"]}
    rows = [_row(number, score, baseline) for number, score in enumerate(scores, start=1)]
    return {
        f"{FOLDER}/run_meta.json": json.dumps(meta).encode(),
        f"{FOLDER}/scores.json": json.dumps(rows).encode(),
        f"{FOLDER}/agent.jsonl": _transcript(len(scores)),
        f"{FOLDER}/code/train.py": CODE.encode(),
        f"{FOLDER}/reports/summary.md": b"# Iteration 1\nSFT on the visible set.\n",
    }


def _row(number: int, score: Score, baseline: float) -> dict[str, Any]:
    at = START + timedelta(hours=number)
    row = {
        "submission_id": number,
        "timestamp": at.replace(tzinfo=None).isoformat(),
        "model_path": f"/work/{FOLDER}/output/v{number}",
        "score": 0.0 if score is None else score,
        "baseline_score": baseline,
        "improvement": (score or 0.0) - baseline,
        "elapsed_seconds": 300.0,
    }
    return row | ({"error": "CUDA out of memory"} if score is None else {})


def _transcript(submissions: int) -> bytes:
    """Claude Code's stream: one call of the grading server for each submission."""
    init = {"type": "system", "subtype": "init", "session_id": "s", "model": "claude-opus-4-6", "tools": ["Bash"]}
    lines: list[dict[str, Any]] = [init | {"claude_code_version": "2.1.78"}]
    for number in range(1, submissions + 1):
        command = f'curl -X POST $GRADING_SERVER_URL/submit -d \'{{"model_path": "output/v{number}"}}\''
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "{}"}
        lines.append({"type": "assistant", "session_id": "s", "message": {"id": f"m{number}", "content": [call]}})
        lines.append({"type": "user", "session_id": "s", "message": {"content": [result]}})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 11, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def bundle_bytes(scores: Sequence[Score] = (61.0, None, 70.5), **more: bytes) -> bytes:
    """A consistent run as a zip; `more` are further files by path."""
    return zipped(workspace_files(scores) | more)
