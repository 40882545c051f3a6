"""`tools/` of a workspace: the rollout library with the code of one task, and nothing that is held out."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from django.conf import settings

from benchmark.catalogue import CatalogueError, Task
from benchmark.gateway.routes import Route
from benchmark.ports import grading_room
from benchmark.services.locking import held_alone

LIBRARY = Path(__file__).resolve().parents[1] / "rollouts"
CONTRACTS = ("contract.py", "services_contract.py")


def tools_folder(task: Task) -> Path | None:
    """The prepared folder, made on first use; None where the task names no `rollouts` in its task.yaml.

    Raises: CatalogueError: a file that it names is missing.
    """
    if not task.about.get("rollouts"):
        return None
    files = dict(_files(task))
    told = hashlib.sha256()
    for name, path in sorted(files.items()):
        told.update(name.encode() + b"\0" + path.read_bytes())
    target = Path(settings.DATA_DIR) / "tools" / f"{task.id}-{told.hexdigest()[:12]}"
    with held_alone(target.with_name(target.name + ".lock")):
        if not target.is_dir():
            _make(task, files, target)
    return target


def _make(task: Task, files: dict[str, Path], target: Path) -> None:
    part = target.with_name(target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    for name, path in files.items():
        place = part / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    about = {"task": task.id, "module": f"benchmark.tasks.{task.folder.name}.evaluator", "needs": list(task.needs)}
    (part / "rollouts" / "task.json").write_text(json.dumps(about) + "\n", encoding="utf-8")
    part.rename(target)


def _files(task: Task) -> Iterator[tuple[str, Path]]:
    """Where each file lies in `tools/`, and what it is a copy of."""
    for path in sorted(LIBRARY.glob("*.py")):
        yield f"rollouts/{path.name}", path
    yield "README.md", LIBRARY / "README.md"
    for name in CONTRACTS:
        yield f"rollouts/lib/benchmark/tasks/{name}", LIBRARY.parent / "tasks" / name
    for named in task.about["rollouts"]:
        source = task.folder / named
        if not source.resolve().is_relative_to(task.folder.resolve()) or not source.exists():
            raise CatalogueError(f"{task.folder / 'task.yaml'}: rollouts names {named}, which is not in that folder.")
        for path in [source] if source.is_file() else sorted(source.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"rollouts/lib/benchmark/tasks/{task.folder.name}/{path.relative_to(task.folder)}", path


def services_offered(tasks: Sequence[Task]) -> list[str]:
    """The tasks' needs that agents may ask too: AGENT2_ROLLOUT_SERVICES."""
    needs = dict.fromkeys(need for task in tasks for need in task.needs)
    return [need for need in needs if need in settings.ROLLOUT_SERVICES]


def agent_routes(tasks: Sequence[Task]) -> Sequence[Route]:
    """What an agent's gateway leads to besides grading."""
    offered = services_offered(tasks)
    return grading_room().service_routes(offered) if offered else []
