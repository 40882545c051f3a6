"""`instructions.md`: what the agent is told, the same for every agent system, one paragraph differing by mode."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from string import Template

from benchmark.catalogue import Task
from benchmark.models import Run

FOLDER = Path(__file__).parent.parent / "instructions"


def instructions_for(run: Run, tasks: Sequence[Task], model_inside: PurePosixPath) -> str:
    """The Markdown text. Paths are those inside the sandbox, times in minutes."""
    values = {
        "tasks": _listed(tasks),
        "task": tasks[0].title,
        "metric": tasks[0].metric,
        "eval_size": str(tasks[0].eval_size),
        "first": tasks[0].slug,
        "model": str(model_inside),
        "budget": _minutes(run.budget_s),
        "budget_s": str(run.budget_s),
        "mode": (FOLDER / f"mode_{run.mode.replace('-', '_')}.md").read_text(encoding="utf-8").strip(),
    }
    name = "instructions_multi.md" if len(tasks) > 1 else "instructions.md"
    common = Template((FOLDER / "common.md").read_text(encoding="utf-8")).substitute(values)
    text = (FOLDER / name).read_text(encoding="utf-8")
    return Template(text).substitute(values | {"common": common.strip()})


def description_for(tasks: Sequence[Task]) -> str:
    """`description.md`: of one task, or one after the other."""
    if len(tasks) == 1:
        return tasks[0].description
    return "\n\n".join(f"<!-- {task.slug} -->\n\n{task.description.strip()}" for task in tasks) + "\n"


def _listed(tasks: Sequence[Task]) -> str:
    rows = [f"| `{t.slug}` | {t.title} | {t.eval_size} | {t.metric} |" for t in tasks]
    return "\n".join(["| task | what | held-out items | measured by |", "|---|---|---|---|", *rows])


def prompt_for(run: Run) -> str:
    """What an agent system is given to begin with: PROMPT. Another one when it has ended early and is started again."""
    if not run.resumed:
        return "Read instructions.md in the current folder and do what it says, to the end, without asking anybody."
    return (
        "You have worked on this before and ended with time left. Read instructions.md in the current folder, look at "
        'what you left in summary.md, code/ and output/, ask "$GRADING_SERVER_URL/submissions" what was scored and '
        '"$GRADING_SERVER_URL/time" what time is left, and go on improving until that is used.'
    )


def _minutes(seconds: int) -> str:
    hours, rest = divmod(seconds, 3600)
    parts = [f"{hours} h"] if hours else []
    return " ".join([*parts, f"{rest / 60:.0f} min"]) if rest or not hours else parts[0]
