"""Whether an agent system can run on this worker, asked before a run is."""

import time
from pathlib import PurePosixPath

from benchmark.agent_folder import Agent
from benchmark.sandbox.contract import Limits, Mount, Sandbox, SandboxFault, Spec
from benchmark.services.agent_tools import INSIDE, AgentUnavailable, agent_tools_mounts, tools_folder_of
from benchmark.services.out_hosts import hosts_missing
from benchmark.services.provider_access import provider_problem
from benchmark.services.sandboxes import sandbox_for_agent, sandbox_name, sandbox_of_process

SMOKE_S = 60.0
WITH_TOOLS = 'PATH="$AGENT_TOOLS/node_modules/.bin:$AGENT_TOOLS/venv/bin:$PATH"; exec "$@"'
_told: dict[tuple[str, str, str], str] = {}
"""What a smoke check printed, by agent, tool folder and kind of sandbox: once in each process is enough."""


def agent_problems(agent: Agent, driver: str) -> list[str]:
    """One sentence for each thing that keeps the agent from running here; empty when it can."""
    problems = [problem for problem in (provider_problem(agent, driver), hosts_missing(agent.hosts)) if problem]
    try:
        agent_smoke(agent, sandbox_for_agent(agent))
    except (AgentUnavailable, SandboxFault) as error:
        problems.append(str(error))
    return problems


def agent_smoke(agent: Agent, sandbox: Sandbox) -> str:
    """Run the agent's smoke command in a sandbox of its own. Returns its last line, such as a version.

    Raises: AgentUnavailable: a host is not allowed, it is not installed, or the command failed; SandboxFault.
    """
    if missing := hosts_missing(agent.hosts):
        raise AgentUnavailable(missing)
    mounts = agent_tools_mounts(agent)
    if not agent.smoke:
        return ""
    known = (agent.id, str(tools_folder_of(agent)), sandbox.kind)
    if known not in _told:
        _told[known] = _smoke(agent, sandbox, mounts)
    return _told[known]


def _smoke(agent: Agent, sandbox: Sandbox, mounts: list[Mount]) -> str:
    name = sandbox_name("smoke", time.monotonic_ns())
    with sandbox_of_process(name) as folder:
        log = folder / "smoke.log"
        running = sandbox.start(
            Spec(
                name=name,
                command=["bash", "-c", WITH_TOOLS, "smoke", *agent.smoke],
                mounts=mounts,
                env={**agent.env, "AGENT_TOOLS": str(INSIDE)},
                workdir=PurePosixPath("/tmp"),  # noqa: S108 - the sandbox's own
                limits=Limits(),
                log_path=log,
            )
        )
        try:
            ended = running.wait(SMOKE_S)
        finally:
            running.stop(0.5)
        printed = log.read_text(encoding="utf-8", errors="replace").strip() if log.exists() else ""
    if ended is None or ended.code:
        how = f"did not end within {SMOKE_S:g} s" if ended is None else f"ended with code {ended.code}"
        raise AgentUnavailable(f"{agent.title} cannot start here: `{' '.join(agent.smoke)}` {how}. {printed[-500:]}")
    return printed.splitlines()[-1][:120] if printed else ""
