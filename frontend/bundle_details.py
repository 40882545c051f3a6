"""What a submitter states beside an archive, where its files are silent: members of a manifest."""

import json
from typing import Any

from bundles.format.schema import MANIFEST_SCHEMA
from bundles.format.schema_check import schema_faults
from frontend.bundle_access import Refusal

STATED = (
    *("task", "tasks", "protocol", "agent", "driver", "base_model", "mode", "budget_s", "used_s", "started_at"),
    *("ended_at", "outcome", "tokens", "hardware", "seeds", "baselines", "contact", "licence", "run"),
)
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {name: MANIFEST_SCHEMA["properties"][name] for name in STATED},
}


def details_read(text: str) -> dict[str, Any]:
    """JSON with some of `STATED`. Raises: Refusal: it is not."""
    if not text:
        return {}
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        raise Refusal(400, "details: this is not JSON.") from None
    if faults := schema_faults(told, SCHEMA):
        where, what = faults[0]
        raise Refusal(400, f"details: {where or 'the whole'}: {what}.")
    return dict(told)
