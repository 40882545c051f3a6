"""`instructions.md`: what the agent is told, the same for every agent system, one paragraph differing by mode."""

from pathlib import Path, PurePosixPath
from string import Template

from benchmark.catalogue import Task
from benchmark.models import Run

FOLDER = Path(__file__).parent.parent / "instructions"


def instructions_for(run: Run, task: Task, model_inside: PurePosixPath) -> str:
    """The Markdown text. Paths are those inside the sandbox, times in minutes."""
    values = {
        "task": task.title,
        "task_id": task.id,
        "metric": task.metric,
        "eval_size": str(task.eval_size),
        "model": str(model_inside),
        "budget": _minutes(run.budget_s),
        "budget_s": str(run.budget_s),
        "mode": (FOLDER / f"mode_{run.mode.replace('-', '_')}.md").read_text(encoding="utf-8").strip(),
    }
    return Template((FOLDER / "instructions.md").read_text(encoding="utf-8")).substitute(values)


def _minutes(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    parts = [f"{hours} h"] if hours else []
    return " ".join([*parts, f"{rest / 60:.0f} min"]) if rest or not hours else parts[0]
