"""Which protocol id a task's scores carry here, and which engine reaches them."""

from django.conf import settings

from benchmark.catalogue import Task
from benchmark.services.needs import needs_suffix

LIMIT = ";limit="


def engine_in_force() -> str:
    """What decides a score besides protocol and files, such as `vllm/cuda/bfloat16/batch-invariant`."""
    parts = (
        settings.ENGINE,
        settings.DEVICE,
        settings.DTYPE,
        *(["batch-invariant"] if settings.BATCH_INVARIANT else []),
    )
    return "/".join(parts)


def protocol_in_force(task: Task) -> str:
    """The task's protocol as this deployment's settings have it."""
    return protocol_limited(task, settings.GRADING_LIMIT)


def protocol_limited(task: Task, limit: int | None) -> str:
    """The task's protocol with the judge it needs; a limit to the first N items makes it another, unranked one."""
    whole = task.protocol + needs_suffix(task)
    return f"{whole}{LIMIT}{limit}" if limit else whole


def protocol_unlimited(protocol: str) -> str:
    """The id without its limit."""
    return protocol.partition(LIMIT)[0]


def protocol_limit(protocol: str) -> int | None:
    """The number of items that the id limits it to."""
    limit = protocol.partition(LIMIT)[2]
    return int(limit) if limit else None


def protocol_is_ranked(protocol: str) -> bool:
    """Only whole protocols are ranked."""
    return LIMIT not in protocol
