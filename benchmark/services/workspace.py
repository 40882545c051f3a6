"""A run's folder on the worker: the agent's workspace, and beside it what the platform keeps for itself.

```
runs/<slug>/workspace/   instructions.md description.md run_meta.json code/ output/ models/<name>/ data/ tools/
runs/<slug>/             agent.log gateway/gateway.sock
```
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from django.conf import settings

from benchmark.catalogue import Agent, Task, task_slug
from benchmark.models import Run
from benchmark.sandbox.contract import Mount
from benchmark.services.agent_tools import INSIDE as TOOLS_INSIDE
from benchmark.services.base_models import base_model_name
from benchmark.services.instructions import description_for, instructions_for

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
    shown: Mapping[str, Path]
    """Read-only folders by their place in the workspace: `data` and `tools`, in a multi run `data/<task>` and so on."""
    agent_folder: Path
    agent_inside: PurePosixPath
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
            *(Mount(folder, self.inside / place) for place, folder in self.shown.items()),
            Mount(self.agent_folder, self.agent_inside),
            *self.further,
        ]

    def view(self) -> tuple[tuple[PurePosixPath, Path], ...]:
        """Paths inside → folders on the host, for resolving what the agent submits."""
        return (
            (self.inside, self.host),
            (self.model_inside, self.base_folder),
            *((self.inside / place, folder) for place, folder in self.shown.items() if is_data(place)),
        )

    def environment(self, run: Run, token: str, python: str) -> Mapping[str, str]:
        """The reference's variables, and ours: MODE, BUDGET_S, DRIVER, PYTHON, those of `tools/` and of several tasks.

        The sandbox fills in `{gateway}`.
        """
        url = "{gateway}/grading/" + token
        several = {"TASKS": ",".join(run.tasks)} if run.task_list else {}
        urls = {f"GRADING_SERVER_URL_{name_of(task)}": f"{url}/tasks/{task_slug(task)}" for task in run.task_list}
        return {
            **several,
            **urls,
            "TASK": run.task,
            "BASE_MODEL": run.base_model,
            "WORKSPACE": str(self.inside),
            "MODEL_PATH": str(self.model_inside),
            "DATA_PATH": str(self.inside / "data"),
            "OUTPUT_DIR": str(self.inside / "output"),
            "GRADING_SERVER_URL": url,
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


def name_of(task: str) -> str:
    """A task's part in the name of an environment variable: GRADING_SERVER_URL_GSM8K."""
    return re.sub(r"[^A-Z0-9]", "_", task.upper())


def run_folder(run: Run) -> Path:
    """The run's folder on workers."""
    return Path(settings.DATA_DIR / "runs" / run.slug)


def workspace_of(
    run: Run,
    *,
    isolated: bool,
    base_folder: Path,
    shown: Mapping[str, Path],
    agent: Agent,
    further: Sequence[Mount] = (),
) -> Workspace:
    """Where the files of a run are; makes nothing. Without isolation the agent sees host paths."""
    host = run_folder(run) / "workspace"
    return Workspace(
        host=host,
        inside=INSIDE if isolated else PurePosixPath(host),
        base_folder=base_folder,
        base_name=base_model_name(run.base_model),
        shown=dict(shown),
        agent_folder=agent.folder,
        agent_inside=AGENT_INSIDE if isolated else PurePosixPath(agent.folder),
        further=tuple(further),
    )


def is_data(place: str) -> bool:
    """Whether that place of a workspace holds a task's data."""
    return place.split("/", maxsplit=1)[0] == "data"


def folders_shown(tasks: Sequence[Task], folders: Mapping[str, Path], place: str) -> dict[str, Path]:
    """`folders` by task id → by place: `<place>`, or with several tasks `<place>/<task>`."""
    if len(tasks) == 1:
        return {place: next(iter(folders.values()))} if folders else {}
    return {f"{place}/{task.slug}": folders[task.id] for task in tasks if task.id in folders}


def workspace_make(run: Run, workspace: Workspace, tasks: Sequence[Task]) -> None:
    """Create the folders and the files that are ours; safe to call again."""
    # For nobody else on this host: neither the gateway's socket, nor a program that an agent has marked setuid.
    workspace.host.parent.mkdir(parents=True, exist_ok=True)
    workspace.host.parent.chmod(0o700)
    for name in ("code", "output", "models"):
        (workspace.host / name).mkdir(parents=True, exist_ok=True)
    folders = {f"models/{workspace.base_name}": workspace.base_folder, **workspace.shown}
    for place, folder in folders.items():
        if workspace.inside == PurePosixPath(workspace.host):
            _link(workspace.host / place, folder)
        else:
            (workspace.host / place).mkdir(parents=True, exist_ok=True)
    (workspace.host / "description.md").write_text(description_for(tasks), encoding="utf-8")
    (workspace.host / "instructions.md").write_text(
        instructions_for(run, tasks, workspace.model_inside), encoding="utf-8"
    )
    run_meta_write(run)


def run_meta_write(run: Run) -> None:
    """`run_meta.json` as the reference writes it, epoch seconds; read-only for the agent."""
    meta = {
        "run_id": run.slug,
        "task": run.task,
        "tasks": run.tasks,
        "base_model": run.base_model,
        "mode": run.mode,
        "start_time": run.started_at.timestamp() if run.started_at else None,
        "timeout_s": run.budget_s,
        "last_submit_time": None,
        "end_time": run.ended_at.timestamp() if run.ended_at else None,
    }
    (run_folder(run) / "workspace" / "run_meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")


def _link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_symlink():
        path.symlink_to(target)
