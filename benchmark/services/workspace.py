"""A run's folder on the worker: the agent's workspace, and beside it what the platform keeps for itself.

```
runs/<slug>/workspace/   instructions.md description.md run_meta.json code/ output/ models/<name>/ data/ tools/
runs/<slug>/             agent.log gateway/gateway.sock
```
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from django.conf import settings

from benchmark.catalogue import Agent, Task
from benchmark.models import Run
from benchmark.sandbox.contract import Mount
from benchmark.services.agent_tools import INSIDE as TOOLS_INSIDE
from benchmark.services.base_models import base_model_name
from benchmark.services.instructions import instructions_for

INSIDE = PurePosixPath("/workspace")
AGENT_INSIDE = PurePosixPath("/agent")
READ_ONLY_FILES = ("instructions.md", "description.md", "run_meta.json")


@dataclass(frozen=True)
class Workspace:
    """Where a run's files are, on the host and as the agent sees them."""

    host: Path
    inside: PurePosixPath
    base_folder: Path
    base_name: str
    data_folder: Path
    agent_folder: Path
    agent_inside: PurePosixPath
    tools_folder: Path | None = None
    """The rollout library, where the task has one."""
    further: Sequence[Mount] = ()
    """The agent's own programs."""

    @property
    def log_path(self) -> Path:
        return self.host.parent / "agent.log"

    @property
    def socket_path(self) -> Path:
        return self.host.parent / "gateway" / "gateway.sock"

    @property
    def model_inside(self) -> PurePosixPath:
        return self.inside / "models" / self.base_name

    def mounts(self) -> list[Mount]:
        """Everything of the host that the agent sees; nothing held out is among it."""
        if self.inside == PurePosixPath(self.host):
            return [Mount(self.host, self.inside, read_only=False)]
        files = [Mount(self.host / name, self.inside / name) for name in READ_ONLY_FILES]
        return [
            Mount(self.host, self.inside, read_only=False),
            *files,
            Mount(self.base_folder, self.model_inside),
            Mount(self.data_folder, self.inside / "data"),
            Mount(self.agent_folder, self.agent_inside),
            *([Mount(self.tools_folder, self.inside / "tools")] if self.tools_folder else []),
            *self.further,
        ]

    def view(self) -> tuple[tuple[PurePosixPath, Path], ...]:
        """Paths inside → folders on the host, for resolving what the agent submits."""
        return (
            (self.inside, self.host),
            (self.model_inside, self.base_folder),
            (self.inside / "data", self.data_folder),
        )

    def environment(self, run: Run, token: str, python: str) -> Mapping[str, str]:
        """The reference's variables, and ours: MODE, BUDGET_S, DRIVER, PYTHON, those of `tools/`.

        The sandbox fills in `{gateway}`.
        """
        return {
            "TASK": run.task,
            "BASE_MODEL": run.base_model,
            "WORKSPACE": str(self.inside),
            "MODEL_PATH": str(self.model_inside),
            "DATA_PATH": str(self.inside / "data"),
            "OUTPUT_DIR": str(self.inside / "output"),
            "GRADING_SERVER_URL": "{gateway}/grading/" + token,
            "MODE": run.mode,
            "BUDGET_S": str(run.budget_s),
            "DRIVER": run.driver,
            "PYTHON": python,
            "GATEWAY_URL": "{gateway}",
            "AGENT_TOOLS": str(TOOLS_INSIDE),
            "PYTHONPATH": str(self.inside / "tools"),
            "HF_HUB_OFFLINE": "1",
            "PYTHONUNBUFFERED": "1",
        }


def run_folder(run: Run) -> Path:
    """The run's folder on workers."""
    return Path(settings.DATA_DIR / "runs" / run.slug)


def workspace_of(
    run: Run,
    *,
    isolated: bool,
    base_folder: Path,
    data_folder: Path,
    agent: Agent,
    tools_folder: Path | None = None,
    further: Sequence[Mount] = (),
) -> Workspace:
    """Where the files of a run are; makes nothing. Without isolation the agent sees host paths."""
    host = run_folder(run) / "workspace"
    return Workspace(
        host=host,
        inside=INSIDE if isolated else PurePosixPath(host),
        base_folder=base_folder,
        base_name=base_model_name(run.base_model),
        data_folder=data_folder,
        agent_folder=agent.folder,
        agent_inside=AGENT_INSIDE if isolated else PurePosixPath(agent.folder),
        tools_folder=tools_folder,
        further=tuple(further),
    )


def workspace_make(run: Run, workspace: Workspace, task: Task) -> None:
    """Create the folders and the files that are ours; safe to call again."""
    for name in ("code", "output", "models"):
        (workspace.host / name).mkdir(parents=True, exist_ok=True)
    if workspace.inside == PurePosixPath(workspace.host):
        _link(workspace.host / "models" / workspace.base_name, workspace.base_folder)
        _link(workspace.host / "data", workspace.data_folder)
        if workspace.tools_folder:
            _link(workspace.host / "tools", workspace.tools_folder)
    else:
        (workspace.host / "models" / workspace.base_name).mkdir(exist_ok=True)
        (workspace.host / "data").mkdir(exist_ok=True)
        if workspace.tools_folder:
            (workspace.host / "tools").mkdir(exist_ok=True)
    (workspace.host / "description.md").write_text(task.description, encoding="utf-8")
    (workspace.host / "instructions.md").write_text(
        instructions_for(run, task, workspace.model_inside), encoding="utf-8"
    )
    run_meta_write(run)


def run_meta_write(run: Run) -> None:
    """`run_meta.json` as the reference writes it, epoch seconds; read-only for the agent."""
    meta = {
        "run_id": run.slug,
        "task": run.task,
        "base_model": run.base_model,
        "mode": run.mode,
        "start_time": run.started_at.timestamp() if run.started_at else None,
        "timeout_s": run.budget_s,
        "last_submit_time": None,
        "end_time": run.ended_at.timestamp() if run.ended_at else None,
    }
    (run_folder(run) / "workspace" / "run_meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


def _link(path: Path, target: Path) -> None:
    if not path.is_symlink():
        path.symlink_to(target)


def workspace_remove(run: Run) -> None:
    """Delete a run's folder with its checkpoints."""
    shutil.rmtree(run_folder(run), ignore_errors=True)
