"""Whether a document is ATIF: the schema beside this file, and the rules that a schema cannot say."""

import json
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

SCHEMA = Path(__file__).with_name("atif.schema.json")
MOST = 20


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def atif_faults(document: Any) -> list[str]:
    """What is wrong, the first `MOST`; empty when it is valid.

    Source of the rules: Harbor's trajectory models (schema, consecutive step numbers, results that answer calls of
    their own step, ISO 8601 times).
    """
    faults = [f"{error.json_path}: {error.message[:200]}" for error in _validator().iter_errors(document)]
    if faults:
        return faults[:MOST]
    for number, step in enumerate(document["steps"], 1):
        if step["step_id"] != number:
            faults.append(f"step {number} has the id {step['step_id']}")
        calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        for result in step.get("observation", {}).get("results", ()):
            if result.get("source_call_id", None) not in {None, *calls}:
                faults.append(f"step {number} answers {result['source_call_id']}, which it does not call")
        try:
            datetime.fromisoformat(step.get("timestamp", "2026-01-01T00:00:00Z"))
        except ValueError:
            faults.append(f"step {number} has the time {step['timestamp']}")
    return faults[:MOST]
