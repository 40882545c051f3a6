"""What a checkpoint wrote, as the evaluator gets it and as the sample's record keeps it.

A tokenizer can be made whose tokens are pages long or no text at all. Neither may slow an evaluator down, fill the
disk, or make a record that nothing can read.
"""

from dataclasses import replace

from benchmark.tasks.contract import Completion

CHARACTERS_PER_TOKEN = 128
"""No token of the usual tokenizers is longer, so what an honest checkpoint writes is never cut."""
RECORDED_CHARACTERS = 100_000


def heard(completion: Completion, max_tokens: int) -> tuple[Completion, str]:
    """The completion as far as `max_tokens` tokens of text go, and what the record says was written."""
    # Half a surrogate pair is no text: it could be neither hashed nor shown.
    whole = completion.text.encode("utf-8", "replace").decode("utf-8")
    room = CHARACTERS_PER_TOKEN * max_tokens
    kept = whole[: min(room, RECORDED_CHARACTERS)]
    mark = "" if kept == whole else f"… [{len(kept):,} of {len(whole):,} characters]"
    return replace(completion, text=whole[:room]), kept + mark
