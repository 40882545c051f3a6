"""The manifest's JSON Schema (draft 2020-12). `manifest-1.0.schema.json` beside this file is the same, for others."""

from __future__ import annotations

from typing import Any

from bundles.format.words import FILES_MOST, FORMAT, LAYOUTS, MODES, OUTCOMES, ROLES, SUBMISSIONS_MOST, VERSION

SHA256 = "^[0-9a-f]{64}$"
TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$"


def _text(limit: int = 300, **more: Any) -> dict[str, Any]:
    return {"type": "string", "maxLength": limit, **more}


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]}


_SCORE = {"type": "number", "minimum": 0, "maximum": 100}
_AMOUNT = {"type": "number", "minimum": 0}
_COUNT = {"type": "integer", "minimum": 0}
_TIME = _text(40, pattern=TIME)
_SHA256 = _text(64, pattern=SHA256)

_SUBMISSION = _object(
    ("number", "score"),
    number={"type": "integer", "minimum": 1},
    task=_text(64),
    at=_or_null(_TIME),
    elapsed_s=_or_null({"type": "number"}),
    model_path=_text(1024),
    score=_or_null(_SCORE),
    standard_error={**_or_null(_AMOUNT), "description": "Of the score, in points."},
    improvement=_or_null({"type": "number"}),
    error=_text(2000),
    error_code=_text(64),
    digest=_or_null(_SHA256),
    grading_s=_or_null(_AMOUNT),
    tokens=_or_null(_COUNT),
    same_as=_or_null({"type": "integer", "minimum": 1}),
    method=_text(40),
)
_FILE = _object(
    ("path", "size", "sha256", "role"),
    path=_text(1024, minLength=1),
    size=_COUNT,
    sha256=_SHA256,
    role={"type": "string", "enum": list(ROLES)},
    name=_text(1024, description="Of code: its path below the agent's code/."),
    submission={**_COUNT, "description": "Of code: at which submission it was so; 0 or left out: at the end."},
    task=_text(64),
)
_HARDWARE = _object(
    (),
    gpus={
        "type": "array",
        "maxItems": 64,
        "items": _object(("name",), name=_text(), count={"type": "integer", "minimum": 1}, memory_bytes=_COUNT),
    },
    gpu_count=_COUNT,
    cpus=_COUNT,
    memory_bytes=_COUNT,
    note=_text(1000),
)
_REDACTION = _object(("kind", "count"), path=_text(1024), kind=_text(40), count=_COUNT, note=_text(1000))

MANIFEST_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": f"urn:agent2-rl-bench:bundle-manifest:{VERSION}",
    "title": f"Agent² RL-Bench bundle manifest {VERSION}",
    **_object(
        ("format", "version", "task", "agent", "base_model", "submissions", "files"),
        format={"type": "string", "enum": [FORMAT]},
        version=_text(10, pattern=r"^1\.\d+$"),
        layout={
            "type": "string",
            "enum": list(LAYOUTS),
            "description": "The program whose run directory it was made from.",
        },
        created_by=_text(),
        run=_text(300, description="The run's name where it was made."),
        task=_text(64, minLength=1),
        tasks={"type": "array", "maxItems": 32, "items": _text(64, minLength=1)},
        protocol=_or_null(_text(128)),
        agent=_object(("name",), name=_text(64, minLength=1), version=_or_null(_text(64))),
        driver=_object(("name",), name=_text(128), version=_or_null(_text(64))),
        base_model=_object(
            ("name",), name=_text(256, minLength=1), revision=_or_null(_text(128)), digest=_or_null(_text(64))
        ),
        mode={"type": "string", "enum": list(MODES)},
        budget_s=_or_null(_AMOUNT),
        used_s=_or_null(_AMOUNT),
        started_at=_or_null(_TIME),
        ended_at=_or_null(_TIME),
        outcome={"type": "string", "enum": list(OUTCOMES)},
        tokens=_or_null(_COUNT),
        cost_usd=_or_null(_AMOUNT),
        hardware=_HARDWARE,
        seeds={"type": "array", "maxItems": 100, "items": {"type": "integer"}},
        baselines={"type": "object", "maxProperties": 32, "additionalProperties": _SCORE},
        best=_or_null(_SCORE),
        submissions={"type": "array", "maxItems": SUBMISSIONS_MOST, "items": _SUBMISSION},
        contact=_object((), name=_text(), email=_text(), url=_text(1000), affiliation=_text()),
        licence=_text(100, description="An SPDX identifier, such as CC-BY-4.0."),
        redactions={"type": "array", "maxItems": FILES_MOST, "items": _REDACTION},
        notes=_text(20_000),
        files={"type": "array", "maxItems": FILES_MOST, "items": _FILE},
    ),
}
