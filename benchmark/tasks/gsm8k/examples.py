"""The four worked examples of every prompt, made from rows of the training file."""

import re
from collections.abc import Mapping, Sequence

EXAMPLE_ROWS = (7364, 1708, 669, 6724)
"""Rows of the training file whose questions OpenCompass' gsm8k_gen_1d7fe4 shows as worked examples, in its order."""
CALCULATOR_NOTE = re.compile(r"<<[^>]*>>")


def worked_examples(train: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Of all rows of the training file, the four as the grader shows them."""
    return [worked_example(train[number]) for number in EXAMPLE_ROWS]


def worked_example(row: Mapping[str, str]) -> dict[str, str]:
    """A training row as the grader shows it: without calculator notes, ending in `The answer is N`."""
    solution, _, final = row["answer"].partition("\n#### ")
    return {
        "question": row["question"],
        "answer": f"{CALCULATOR_NOTE.sub('', solution)}\nThe answer is {final.strip()}",
    }
