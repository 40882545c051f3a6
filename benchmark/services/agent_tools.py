"""Agents' programs: installed once for each version, shown read-only to every run.

```
agent-tools/<id>-<version>/   node_modules/ venv/ installed.json
```
"""

import hashlib
import json
import logging
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from django.conf import settings

from benchmark.agent_folder import Agent
from benchmark.sandbox.contract import Mount, SandboxFault
from benchmark.sandbox.interpreter import interpreter_folders
from benchmark.services.locking import held_alone

log = logging.getLogger(__name__)
INSIDE = PurePosixPath("/opt/agent-tools")
INSTALL_S = 1800
RECORD = "installed.json"


class AgentUnavailable(Exception):
    """The agent cannot run on this worker; the message says what to do."""


def tools_folder_of(agent: Agent) -> Path | None:
    """Where the agent's programs are, or would be; None where it needs none. Other packages are another folder."""
    if not agent.install.needed:
        return None
    named = json.dumps([agent.install.npm, agent.install.pypi, agent.install.python])
    told = hashlib.sha256(named.encode()).hexdigest()[:8]
    return Path(settings.AGENT_TOOLS_DIR) / f"{agent.id}-{agent.version or 'latest'}-{told}"


def agent_tools_versions(agent: Agent) -> dict[str, str]:
    """Name → version of what is installed. Raises: AgentUnavailable: it is not."""
    folder = tools_folder_of(agent)
    if folder is None:
        return {}
    try:
        told = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AgentUnavailable(
            f"{agent.title} is not installed on this worker: run `manage.py agent_install {agent.id}`."
        ) from error
    return {str(name): str(version) for name, version in told.items()}


def agent_tools_mounts(agent: Agent) -> list[Mount]:
    """The folder, and the Python that its virtual environment was made with. Raises: AgentUnavailable."""
    folder = tools_folder_of(agent)
    if folder is None:
        return []
    agent_tools_versions(agent)
    mounts = [Mount(folder, INSIDE)]
    if agent.install.pypi:
        try:
            prefixes = interpreter_folders(str(folder / "venv" / "bin" / "python"))
        except SandboxFault as error:
            raise AgentUnavailable(
                f"{error}; install it again: `manage.py agent_install --again {agent.id}`."
            ) from error
        mounts += [Mount(each, PurePosixPath(each)) for each in prefixes if not each.is_relative_to(folder)]
    return mounts


def agent_tools_install(agent: Agent, *, progress: Callable[[str], None], again: bool = False) -> Path | None:
    """Install what the agent's folder names, unless it is there. Returns the folder, None where nothing is needed.

    Raises: AgentUnavailable: the registry cannot be reached, a package is missing, or there is no such Python.
    """
    folder = tools_folder_of(agent)
    if folder is None:
        return None
    with held_alone(folder.with_name(folder.name + ".lock")):
        if (folder / RECORD).is_file() and not again:
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:  # what an installer that outlived its caller goes on writing
            raise AgentUnavailable(f"{folder} is still written by an earlier installation; wait for it.") from None
        versions: dict[str, str] = {}
        if agent.install.npm:
            progress(f"npm install {' '.join(agent.install.npm)}")
            versions |= _npm(agent, folder)
        if agent.install.pypi:
            progress(f"pip install {' '.join(agent.install.pypi)}")
            versions |= _pypi(agent, folder)
        _readable(folder)
        (folder / RECORD).write_text(json.dumps(versions, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return folder


def _npm(agent: Agent, folder: Path) -> dict[str, str]:
    _run(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--save-exact", *agent.install.npm])
    lock = json.loads((folder / "package-lock.json").read_text(encoding="utf-8"))
    told: Mapping[str, Mapping[str, str]] = lock.get("packages", {})
    return {name.removeprefix("node_modules/"): each.get("version", "") for name, each in told.items() if name}


def _pypi(agent: Agent, folder: Path) -> dict[str, str]:
    python = python_of_version(agent.install.python or "3")
    _run([python, "-m", "venv", str(folder / "venv")])
    inside = str(folder / "venv" / "bin" / "python")
    _run([inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *agent.install.pypi])
    listed = json.loads(_run([inside, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"]))
    return {each["name"]: each["version"] for each in listed} | {"python": _version_of(python)}


def python_of_version(version: str) -> str:
    """A Python of that version on this host. Raises: AgentUnavailable."""
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates = [f"python{version}", *map(str, sorted(kept.glob(f"{version}*/bin/python"), reverse=True)), "python3"]
    for candidate in candidates:
        if _version_of(candidate).startswith(version):
            return candidate
    raise AgentUnavailable(f"This needs Python {version}: install it so that `python{version}` is found.")


def _version_of(python: str) -> str:
    ask = [python, "-c", "import platform; print(platform.python_version())"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise AgentUnavailable(f"{command[0]} did not work: {error}") from error
    if done.returncode:
        raise AgentUnavailable(f"{' '.join(command[:3])} failed: {(done.stderr or done.stdout).strip()[-1500:]}")
    return done.stdout


def _readable(folder: Path) -> None:
    """The sandbox may run as another user."""
    for root, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(root, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
    folder.chmod(0o755)
