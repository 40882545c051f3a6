"""Which protocol id a task's scores carry here."""

from django.conf import settings

from benchmark.catalogue import Task


def protocol_in_force(task: Task) -> str:
    """The task's protocol; a limit to the first N items makes it another one, which is never ranked."""
    return f"{task.protocol};limit={settings.GRADING_LIMIT}" if settings.GRADING_LIMIT else task.protocol


def protocol_is_ranked(protocol: str) -> bool:
    """Only whole protocols are ranked."""
    return ";" not in protocol
