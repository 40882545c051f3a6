"""From a claimed run to all that its agent needs on this worker."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from benchmark.catalogue import Agent, Task, agent_get, task_get
from benchmark.models import Run, RunState
from benchmark.ports import grading_room
from benchmark.sandbox.contract import Sandbox, SandboxFault
from benchmark.services.agent_check import agent_smoke
from benchmark.services.agent_tools import AgentUnavailable, agent_tools_mounts, agent_tools_versions
from benchmark.services.base_models import BaseModelUnavailable, base_model_folder
from benchmark.services.driving import LOOK_S, RunEnded, step, stop_if_asked
from benchmark.services.holding import Hold
from benchmark.services.provider_access import Access, provider_access
from benchmark.services.sandboxes import sandbox_for_agent
from benchmark.services.task_data import task_data
from benchmark.services.tools import tools_folder
from benchmark.services.workspace import Workspace, folders_shown, run_folder, workspace_make, workspace_of
from benchmark.tasks.data_contract import DataUnavailable

FAULTS: dict[type[Exception], str] = {
    SandboxFault: "sandbox_fault",
    BaseModelUnavailable: "base_model_unavailable",
    DataUnavailable: "task_data_unavailable",
    AgentUnavailable: "agent_unavailable",
}


@dataclass(frozen=True)
class Prepared:
    """All that the agent needs, on this worker."""

    run: Run
    agent: Agent
    tasks: Sequence[Task]
    sandbox: Sandbox
    workspace: Workspace
    access: Access


def run_prepare(hold: Hold) -> Prepared:
    """Raises: RunEnded."""
    run = Run.objects.get(pk=hold.run_id)
    agent, tasks = agent_get(run.agent), [task_get(task) for task in run.tasks]
    try:
        sandbox = sandbox_for_agent(agent)
        run_folder(run).mkdir(parents=True, exist_ok=True)
        access = provider_access(run, agent, run_folder(run))
        mounts = agent_tools_mounts(agent)
        told = agent_smoke(agent, sandbox)
        base = base_model_folder(run.base_model, progress=lambda text: step(hold, text))
        stop_if_asked(hold)
        data = {task.id: task_data(task).visible for task in tasks}
        tools = {task.id: folder for task in tasks if (folder := tools_folder(task))}
    except tuple(FAULTS) as error:
        code = next(code for kind, code in FAULTS.items() if isinstance(error, kind))
        raise RunEnded(RunState.FAILED, code, str(error)) from error
    workspace = workspace_of(
        run,
        isolated=sandbox.isolates,
        base_folder=base,
        shown=folders_shown(tasks, data, "data") | folders_shown(tasks, tools, "tools"),
        agent=agent,
        further=mounts,
    )
    workspace_make(run, workspace, tasks)
    note = "" if sandbox.isolates else "not isolated: a plain process, allowed for the shipped example agent only"
    versions = run.versions | {"agent": agent_tools_versions(agent) | ({"says": told} if told else {})}
    Run.objects.filter(pk=run.pk).update(sandbox=sandbox.kind, sandbox_note=note, versions=versions)
    grading_room().baseline_request(run.pk, base)
    step(hold, "Grading the base model.")
    _baseline_await(hold)
    return Prepared(run, agent, tasks, sandbox, workspace, access)


def _baseline_await(hold: Hold) -> None:
    """Until the baseline is scored, or cannot be. Raises: RunEnded: also where nobody grades anything for long."""
    room, at_work = grading_room(), time.monotonic()
    while not room.baseline_ready(hold.run_id):
        stop_if_asked(hold)
        if room.at_work():
            at_work = time.monotonic()
        elif time.monotonic() - at_work > settings.BASELINE_WAIT_S:
            text = (
                f"No worker graded anything for {settings.BASELINE_WAIT_S:g} s, and the base model is not scored yet."
            )
            raise RunEnded(RunState.FAILED, "baseline_not_graded", text)
        time.sleep(LOOK_S / 2)
