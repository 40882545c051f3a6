"""What this platform knows that a check asks for."""

from typing import Any

from django.conf import settings

from benchmark.catalogue import tasks
from benchmark.models import Origin, Run
from benchmark.services.protocols import protocol_in_force


def known_here() -> dict[str, Any]:
    """Tasks with their protocols in force, and base models that runs started from; JSON."""
    ours = Run.objects.exclude(origin=Origin.EXTERNAL).order_by().values_list("base_model", flat=True).distinct()
    return {
        "tasks": {task.id: protocol_in_force(task) for task in tasks().values()},
        "base_models": sorted({*settings.BASE_MODEL_BUILDERS, *ours[:1000]}),
    }
