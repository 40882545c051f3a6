"""What this platform has prepared already and can compare with; nothing is fetched or built for it."""

from typing import Any

from benchmark.catalogue import tasks
from benchmark.services.base_models import base_models_here
from benchmark.services.task_data import task_data_here


def sources_here() -> dict[str, Any]:
    """`tasks`: id → `{held_out, visible}`; `models`: name → folder. Paths as text, JSON."""
    prepared = {task.id: data for task in tasks().values() if (data := task_data_here(task)) is not None}
    return {
        "tasks": {
            name: {"held_out": str(data.held_out), "visible": str(data.visible)} for name, data in prepared.items()
        },
        "models": {name: str(folder) for name, folder in base_models_here().items()},
    }
