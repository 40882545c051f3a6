"""The chat prompt of one step: the request, the last steps, the page, the possible actions.

What stays comes first and what changes comes last, and steps leave in blocks: most prompts begin with all of the
prompt before, up to its page, so an engine that keeps what it has read reads little more than the new page.
"""

from collections.abc import Sequence

MAX_STEPS = 50
MAX_TOKENS = 100
STOP = ("\n",)
FEWEST_SHOWN, MOST_SHOWN = 5, 9
"""Earlier steps in a prompt, once there are as many. One more than the most, and the oldest leave at once."""
PAGE_CHARS = 4000
EARLIER_PAGE_CHARS = 1000
"""Longer pages are cut, so that a prompt stays within about 16,000 characters and fits a context of 8,192 tokens."""

SYSTEM = (
    "You shop in an online store that is shown as text. You are given a request, your latest steps, the page you are "
    "on and the actions it offers. Find a product that meets the request, choose its options, and buy it. Answer with "
    "one action on one line and nothing else: search[words] or click[label]."
)


def user_message(
    *, request: str, earlier: Sequence[tuple[str, str]], page: str, possible: Sequence[str], number: int
) -> str:
    """The user's message of step `number`, from 1. `earlier` holds (page, action) of every earlier step, in order."""
    lines = [f"Request: {request}", ""]
    first = left_out(len(earlier))
    for offset, (seen, action) in enumerate(earlier[first:], start=first + 1):
        lines += [f"Page {offset}: {_cut(seen, EARLIER_PAGE_CHARS)}", f"Action {offset}: {action}", ""]
    lines += [f"Page {number}: {_cut(page, PAGE_CHARS)}", "", "Possible actions:", *possible, ""]
    lines.append(f"This is step {number} of at most {MAX_STEPS}. Action {number}:")
    return "\n".join(lines)


def left_out(steps: int) -> int:
    """How many of the first of `steps` earlier steps a prompt no longer shows."""
    block = MOST_SHOWN - FEWEST_SHOWN + 1
    return max((steps - FEWEST_SHOWN) // block, 0) * block


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[:chars] + " …"
