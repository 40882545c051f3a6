"""An agent system's folder: `config.yaml` and `start.sh` (docs/adding-an-agent.md says what each key means)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmark.folders import CatalogueError, yaml_mapping

SHIPPED_AGENTS = Path(__file__).parent / "agents"
KNOWN_PROVIDERS = ("anthropic", "openai", "gemini", "compatible")
NO_DRIVER = "none"
INFERRED = {r"claude-": "anthropic", r"(gpt-|o\d|codex-)": "openai", r"gemini-": "gemini"}


@dataclass(frozen=True)
class Install:
    """What `manage.py agent_install` puts into the agent's tool folder; every package with its exact version."""

    npm: tuple[str, ...] = ()
    pypi: tuple[str, ...] = ()
    python: str = ""
    """Of the virtual environment for `pypi`, such as `3.12`."""

    @property
    def needed(self) -> bool:
        return bool(self.npm or self.pypi)


@dataclass(frozen=True)
class Agent:
    """One agent system, as its `config.yaml` describes it."""

    id: str
    title: str
    version: str
    summary: str
    drivers: tuple[str, ...]
    trusted: bool
    """Whether it may run without a sandbox: only an agent that ships with the platform can be."""
    env: Mapping[str, str]
    folder: Path
    trace: str = ""
    """The dialect of what it prints, where it is known."""
    provider: str = ""
    """Of drivers that do not name theirs."""
    models: tuple[str, ...] = ()
    """Patterns of models that it asks beside its driver."""
    hosts: tuple[str, ...] = ()
    """What it must reach besides its provider: entries of the operator's allow-list."""
    install: Install = field(default_factory=Install)
    smoke: tuple[str, ...] = ()
    """A command that ends with 0 in the sandbox when the agent can start."""

    def driver_parts(self, driver: str) -> tuple[str, str]:
        """(provider, model): `openai/gpt-5` names its provider, `claude-…` lets it be inferred. Empty: none needed."""
        if driver == NO_DRIVER:
            return "", ""
        named, _, model = driver.partition("/")
        if model and named in KNOWN_PROVIDERS:
            return named, model
        if self.provider:
            return self.provider, driver
        inferred = next((name for start, name in INFERRED.items() if re.match(start, driver)), "")
        return inferred, driver if inferred else ""


def agent_read(folder: Path) -> Agent:
    """Raises: CatalogueError."""
    about = yaml_mapping(folder / "config.yaml")
    if not (folder / "start.sh").is_file():
        raise CatalogueError(f"{folder / 'start.sh'} is missing.")
    env_key = "env" if about.get("env") else "env_vars"
    provider = str(about.get("provider") or "")
    if provider and provider not in KNOWN_PROVIDERS:
        raise CatalogueError(f"{folder / 'config.yaml'}: provider must be one of {', '.join(KNOWN_PROVIDERS)}.")
    return Agent(
        id=folder.name,
        title=str(about.get("title") or about.get("name") or folder.name),
        version=str(about.get("version", "")),
        summary=str(about.get("summary") or about.get("description") or "").strip(),
        drivers=_words(about.get("drivers"), folder, "drivers") or (NO_DRIVER,),
        trusted=bool(about.get("trusted", False)) and folder.parent == SHIPPED_AGENTS,
        env={str(key): str(value) for key, value in _mapping(about.get(env_key), folder, env_key).items()},
        folder=folder,
        trace=str(about.get("trace") or ""),
        provider=provider,
        models=_words(about.get("models"), folder, "models"),
        hosts=_words(_mapping(about.get("needs"), folder, "needs").get("hosts"), folder, "needs.hosts"),
        install=_install(_mapping(about.get("install"), folder, "install"), folder),
        smoke=_words(about.get("smoke"), folder, "smoke"),
    )


def _words(told: Any, folder: Path, key: str) -> tuple[str, ...]:
    if told is not None and not isinstance(told, list):
        raise CatalogueError(f"{folder / 'config.yaml'}: {key} must be a list.")
    return tuple(map(str, told or ()))


def _mapping(told: Any, folder: Path, key: str) -> Mapping[Any, Any]:
    if told and not isinstance(told, Mapping):
        raise CatalogueError(f"{folder / 'config.yaml'}: {key} must be a mapping.")
    return told or {}


def _install(told: Mapping[Any, Any], folder: Path) -> Install:
    npm, pypi = _words(told.get("npm"), folder, "install.npm"), _words(told.get("pypi"), folder, "install.pypi")
    loose = [each for each in npm if "@" not in each[1:]] + [each for each in pypi if "==" not in each]
    if loose:
        raise CatalogueError(f"{folder / 'config.yaml'}: give the exact version of {', '.join(loose)}.")
    return Install(npm, pypi, str(told.get("python") or ""))
