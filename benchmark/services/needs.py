"""What tasks need outside their evaluator's sandbox, and whether this deployment has it.

A judge or a search decides scores, so its name is part of the protocol id: scores of different ones are never ranked
together.
"""

import hashlib
import json

from django.conf import settings

from benchmark.catalogue import Task

PROTOCOL_CHARACTERS = 128


def needs_missing(task: Task) -> str:
    """One sentence that says which settings the task lacks here; empty when it can be graded."""
    missing = []
    if "judge" in task.needs and not settings.JUDGE_MODEL:
        missing.append("a judge: set AGENT2_JUDGE_URL, AGENT2_JUDGE_MODEL and AGENT2_JUDGE_KEY")
    if "search" in task.needs and not settings.SEARCH_BACKEND:
        missing.append("a search: set AGENT2_SEARCH_BACKEND")
    if missing:
        return f"{task.title} needs {', and '.join(missing)}."
    if len(task.protocol + needs_suffix(task)) + len(";limit=1000000") > PROTOCOL_CHARACTERS:
        return f"{task.title} would have a protocol id that is too long: shorten AGENT2_SEARCH_SNAPSHOT."
    return ""


def needs_suffix(task: Task) -> str:
    """What the task's needs add to its protocol id, such as `;judge=NAME`."""
    names = {"judge": judge_name(), "search": search_name()}
    return "".join(f";{need}={names[need]}" for need in task.needs)


def judge_name() -> str:
    """The model, and a digest of the parameters where an operator has set some: they make it another judge."""
    if not settings.JUDGE_PARAMETERS:
        return str(settings.JUDGE_MODEL)
    parameters = json.dumps(settings.JUDGE_PARAMETERS, sort_keys=True)
    return f"{settings.JUDGE_MODEL}+{hashlib.sha256(parameters.encode()).hexdigest()[:8]}"


def search_name() -> str:
    """The backend, and the snapshot of its answers where it is a named one."""
    snapshot = "" if settings.SEARCH_SNAPSHOT == "default" else f"@{settings.SEARCH_SNAPSHOT}"
    return f"{settings.SEARCH_BACKEND}{snapshot}"
