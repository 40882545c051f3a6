"""A process that generates problems and scores answers.

It is a process of its own because an answer may take for ever or eat the memory, and because some generators follow the
order of sets, which Python fixes at start only. First line of standard input: `dataset`, `config`, `seed`, `size`. Then
one JSON object a line: `index` alone asks for a problem, with `answer` for its score. One answer a line on standard
output; `fault` when the data set cannot be opened.
"""

import hashlib
import json
import os
import resource
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmark.tasks.reasoning_gym.recipe import pinned_version

MEMORY_BYTES = 8 << 30


class Unusable(Exception):
    """The data set cannot be opened; the message says what to do."""


def main() -> None:
    """Until standard input ends."""
    # Only our own lines may reach the grader.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    order = json.loads(sys.stdin.readline())
    entries: Any = None
    for line in sys.stdin:
        try:
            entries = entries or open_dataset(**order)
            answer = _answer(entries, json.loads(line))
        except Unusable as error:
            answer = {"fault": str(error)}
        out.write(json.dumps(answer, default=str) + "\n")
        out.flush()


def open_dataset(dataset: str, config: dict[str, Any], seed: int, size: int) -> Any:
    """Raises: Unusable: reasoning-gym is missing or another version, or does not know the data set."""
    try:
        found = version("reasoning-gym")
        gym: Any = import_module("reasoning_gym")
    except (PackageNotFoundError, ImportError) as error:
        raise Unusable(f"reasoning-gym is not installed: pip install reasoning-gym=={pinned_version()}") from error
    if found != pinned_version():
        raise Unusable(f"reasoning-gym {found} is installed; scores rest on {pinned_version()}.")
    try:
        return gym.create_dataset(dataset, seed=seed, size=size, **config)
    except (ValueError, TypeError, AssertionError) as error:
        raise Unusable(f"reasoning-gym's {dataset} with {config}: {error}") from error


def _answer(entries: Any, request: dict[str, Any]) -> dict[str, Any]:
    entry = entries[request["index"]]
    if "answer" not in request:
        # Questions that differ in white space only are the same.
        digest = hashlib.sha256(" ".join(entry["question"].split()).encode()).hexdigest()
        return {**{key: entry[key] for key in ("question", "answer", "metadata")}, "sha256": digest}
    try:
        return {"score": float(entries.score_answer(request["answer"], entry))}
    except Exception as error:
        return {"raised": f"{type(error).__name__}: {error}"[:300], "gold": _scores_its_own(entries, entry)}


def _scores_its_own(entries: Any, entry: dict[str, Any]) -> bool:
    """Whether the scorer works for the problem's own answer: then it is the other answer that it cannot stand."""
    try:
        entries.score_answer(entry["answer"], entry)
    except Exception:
        return False
    return True


if __name__ == "__main__":
    main()
