"""Building and writing `verdict.json`."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmark.tasks.contract import Record
from grading.contract import Finding, RunnerSpec, RunnerVerdict
from grading.runner.samples import write_atomically
from grading.runner.stops import StopTokens
from grading.runner.versions import library_versions

NO_STOP_SHARE = 0.1
"""From this share of cut-off samples on, the verdict says so."""


def write_verdict(out: Path, verdict: RunnerVerdict) -> None:
    """`out/verdict.json`, complete or not there."""
    write_atomically(out / "verdict.json", json.dumps(verdict.as_dict(), indent=2, allow_nan=False) + "\n")


def protocol_id(spec: RunnerSpec) -> str:
    """The spec's protocol; with a limit it is another, unranked one."""
    return spec.protocol if spec.limit is None else f"{spec.protocol};limit={spec.limit}"


def spec_digest(spec: RunnerSpec) -> str:
    """What recorded samples depend on: the spec, the task's code, the files' names and sizes, the libraries."""
    parts = {key: value for key, value in asdict(spec).items() if key not in ("threads", "limit", "outside")}
    folders = {
        name: sorted(
            (str(file.relative_to(folder)), file.stat().st_size) for file in folder.rglob("*") if file.is_file()
        )
        for name in ("held_out", "checkpoint", "reference")
        if (told := getattr(spec, name))
        for folder in [Path(told)]
    }
    code = {
        str(file.relative_to(spec.task_dir)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in Path(spec.task_dir).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    whole = json.dumps([parts, folders, code, library_versions(Path(spec.task_dir))], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def no_stop_warnings(records: Sequence[Record], stops: StopTokens, end_of_turn: str | None) -> tuple[Finding, ...]:
    """W_NO_STOP where many completions ran to the token limit."""
    share = sum(r.finish_reason == "length" for r in records) / len(records) if records else 0.0
    if share < NO_STOP_SHARE:
        return ()
    return (
        Finding(
            code="W_NO_STOP",
            message=f"{share:.1%} of the samples ran to the token limit without an end-of-sequence token",
            fix="Train on whole turns with their end token; keep it in generation_config.json's eos_token_id.",
            detail={
                "share": round(share, 4),
                "config_eos": list(stops.config),
                "generation_config_eos": list(stops.generation_config),
                "tokenizer_eos": list(stops.tokenizer),
                "template_end_of_turn": end_of_turn,
            },
        ),
    )
