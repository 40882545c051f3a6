"""What may go wrong at a provider, and what each agent's program makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from tests.support.scripted_provider import Fault

SLOWLY = {"retry-after": "1"}
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"


@dataclass(frozen=True)
class Trouble:
    """`fault` strikes the second request of a run, or its first; `code` is the run's fault, empty: it finishes."""

    fault: Fault
    code: str = ""


TROUBLES: Mapping[str, Trouble] = {
    "429 twice": Trouble(Fault(1, 429, 2, "slow down", SLOWLY)),
    "500 twice": Trouble(Fault(1, 500, 2)),
    "one answer cut": Trouble(Fault(1, 0, 1)),
    "answers cut for ever": Trouble(Fault(1, 0, 0), "provider_cut"),
    "streams that end at once": Trouble(Fault(1, 0, 0, only_streams=True, share=0), "provider_cut"),
    "500 for ever": Trouble(Fault(1, 500, 0), "provider_error"),
    "an expired key": Trouble(Fault(0, 401, 0, "key expired"), "provider_auth"),
    "too long a context": Trouble(Fault(1, 400, 0, TOO_LONG), "provider_context"),
}
ENDS_OTHERWISE: Mapping[tuple[str, str], str] = {
    ("claude-code", "streams that end at once"): "",  # It asks for a whole answer then.
    ("claude-code", "one answer cut"): "provider_cut",  # It keeps what it was told and ends.
    ("openhands", "too long a context"): "",  # It shortens its conversation and goes on.
}
CANNOT_MEET = {
    ("openhands", "streams that end at once"),  # It asks for no streams.
}
ALWAYS = {
    ("claude-code", "429 twice"),
    ("claude-code", "an expired key"),
    ("codex", "one answer cut"),
    ("codex", "too long a context"),
    ("opencode", "500 twice"),
    ("opencode", "an expired key"),
    ("gemini-cli", "one answer cut"),
    ("gemini-cli", "answers cut for ever"),
    ("openhands", "one answer cut"),
    ("openhands", "an expired key"),
}
"""For each agent what it asks again for, and what ends it: with every run of the tests."""
