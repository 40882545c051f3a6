"""Which protocol id a task's scores carry here."""

from django.conf import settings

from benchmark.catalogue import Task
from benchmark.services.needs import needs_suffix

LIMIT = ";limit="


def protocol_in_force(task: Task) -> str:
    """The task's protocol with the judge it needs; a limit to the first N items makes it another, unranked one."""
    whole = task.protocol + needs_suffix(task)
    return f"{whole}{LIMIT}{settings.GRADING_LIMIT}" if settings.GRADING_LIMIT else whole


def protocol_unlimited(protocol: str) -> str:
    """The id without its limit."""
    return protocol.partition(LIMIT)[0]


def protocol_is_ranked(protocol: str) -> bool:
    """Only whole protocols are ranked."""
    return LIMIT not in protocol
