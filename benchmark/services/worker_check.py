"""Whether this machine can do a worker's work; asked before it takes any."""

import math
import os
import shutil
import subprocess
from collections.abc import Iterator

from django.conf import settings

from benchmark.catalogue import agents, tasks
from benchmark.gateway.prices import BadPrices, prices_read
from benchmark.sandbox.contract import SandboxFault
from benchmark.services.agent_tools import AgentUnavailable, agent_tools_versions
from benchmark.services.database_check import database_problem
from benchmark.services.gpu_pool import ALL
from benchmark.services.needs import needs_missing
from benchmark.services.out_hosts import BadAllowList, hosts_allowed
from benchmark.services.sandboxes import sandbox_for_grading

INVARIANT_GPU = (
    "import sys, torch as t; "
    "sys.exit(not (t.cuda.is_available() and t.version.cuda and t.cuda.get_device_capability() >= (8, 0)))"
)
FREE_MIN_BYTES = 2 * 1024**3


def worker_problems(queues: set[str]) -> list[str]:
    """One sentence for each thing that is missing; empty when the worker can start."""
    problems = [database_problem(), disk_problem()]
    if queues & {"agents", "grading"}:
        problems += [_sandbox(), _shown()]
    if "agents" in queues:
        problems += [_way_out(), _gpus()]
    if "grading" in queues:
        problems.append(_engine())
    return [problem for problem in problems if problem]


def worker_notices(queues: set[str]) -> list[str]:
    """What this worker cannot do, although it can start: tasks that lack a setting, agents that are not installed."""
    notices = [told for told in map(needs_missing, tasks().values()) if told] if "grading" in queues else []
    return notices + (list(_agents_missing()) if "agents" in queues else [])


def _agents_missing() -> Iterator[str]:
    missing = []
    for agent in agents().values():
        try:
            agent_tools_versions(agent)
        except AgentUnavailable:
            missing.append(agent.id)
    if missing:
        yield f"Agents that are not installed here: {', '.join(missing)}. `manage.py agent_install` installs them."


def _shown() -> str:
    missing = [str(path) for path in settings.SANDBOX_READ_ONLY if not (path.is_absolute() and path.exists())]
    return f"AGENT2_SANDBOX_READ_ONLY: no absolute path of this host: {', '.join(missing)}." if missing else ""


def _gpus() -> str:
    wanted, there = settings.AGENT_SLOTS * math.ceil(settings.RUN_GPUS), settings.GPUS
    if not there or there == [ALL] or wanted <= len(there):
        return ""
    return (
        f"AGENT2_AGENT_SLOTS times AGENT2_RUN_GPUS is {wanted}, and AGENT2_GPUS has {len(there)}: "
        "lower the former or name more GPUs."
    )


def _way_out() -> str:
    """What an operator wrote about prices and hosts, read before a run needs it."""
    try:
        prices_read(settings.PRICES_FILE)
        hosts_allowed()
    except (BadPrices, BadAllowList) as error:
        return str(error)
    return ""


def disk_problem() -> str:
    """What keeps a worker from writing here; empty when nothing does."""
    try:
        settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"{settings.DATA_DIR} cannot be made ({error.strerror}): set AGENT2_DATA_DIR."
    if not os.access(settings.DATA_DIR, os.W_OK):
        return f"{settings.DATA_DIR} cannot be written: set AGENT2_DATA_DIR."
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free >= FREE_MIN_BYTES:
        return ""
    needed = f"{FREE_MIN_BYTES / 1024**3:.0f} GiB are needed"
    return f"{settings.DATA_DIR} has {free / 1024**3:.1f} GiB free; {needed}: make room, or set AGENT2_DATA_DIR."


def _sandbox() -> str:
    try:
        return sandbox_for_grading().unavailable() or ""
    except SandboxFault as error:
        return str(error)


def _engine() -> str:
    if settings.SANDBOX == "docker":
        return ""
    try:
        python = settings.RUNNER_PYTHON or sandbox_for_grading().python
    except SandboxFault:
        return ""  # said already
    if not _says(python, f"import importlib.util as u, sys; sys.exit(u.find_spec({settings.ENGINE!r}) is None)"):
        return f"{python} has no {settings.ENGINE}: install it there, or set AGENT2_RUNNER_PYTHON."
    if settings.BATCH_INVARIANT and not _says(python, INVARIANT_GPU):
        return "AGENT2_BATCH_INVARIANT=1 needs an NVIDIA GPU of compute capability 8.0 or later here: set it to 0."
    return ""


def _says(python: str, code: str) -> bool:
    return subprocess.run([python, "-c", code], check=False, capture_output=True).returncode == 0
