"""How to cite a run."""

from django.conf import settings
from django.urls import reverse

from benchmark.models import Origin, Run
from frontend.agent_titles import agent_title
from frontend.formats import score
from frontend.latex import latex_text
from frontend.run_page import RunPage


def address_of(run: Run) -> str:
    return f"{settings.PUBLIC_URL}{reverse('run', args=[run.slug])}"


def _year(run: Run) -> int:
    return (run.ended_at or run.started_at or run.created_at).year


def _title(page: RunPage) -> str:
    run = page.run
    driver = "" if run.driver in ("", "none") else f" with {run.driver}"
    tasks = " and ".join(run.tasks)
    return f"{agent_title(run.agent)}{driver} on {tasks}, from {run.base_model}: run {run.slug}"


def _facts(page: RunPage) -> str:
    run = page.run
    on = f" on {page.task}" if run.task_list else ""
    told = [f"protocol {page.protocol}", f"{run.get_mode_display()} mode", f"budget {run.budget_s / 3600:g} h"]
    if page.score is not None:
        claimed = "" if run.origin == Origin.LOCAL else f", {run.trust or 'claimed'}"
        told.append(f"best score{on} {score(page.score)}{claimed}")
    if page.baseline is not None:
        told.append(f"baseline{on} {score(page.baseline)}")
    return ", ".join(told)


def plain_citation(page: RunPage) -> str:
    """One sentence."""
    return f"Agent² RL-Bench. {_title(page)} ({_year(page.run)}). {_facts(page)}. {address_of(page.run)}"


def bibtex(page: RunPage) -> str:
    """One `@misc`, whatever the names hold."""
    fields = {
        "title": f"{{{latex_text(_title(page))}}}",
        "author": "{{Agent² RL-Bench}}".replace("²", r"\textsuperscript{2}"),
        "year": f"{{{_year(page.run)}}}",
        "note": f"{{{latex_text(_facts(page))}}}",
        "howpublished": f"{{\\url{{{address_of(page.run)}}}}}",
    }
    lines = ",\n".join(f"  {name:<12} = {value}" for name, value in fields.items())
    return f"@misc{{agent2rlbench-{page.run.slug},\n{lines}\n}}\n"
