"""What is missing, wrong or contradictory fails at start with one line that says what to set."""

import os
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

ROOT = Path(__file__).resolve().parents[3]
PRODUCTION = {
    "DEPLOYMENT": "production",
    "SECRET_KEY": "a-key-of-the-test",
    "PUBLIC_URL": "https://bench.example.org",
    "ALLOWED_HOSTS": "bench.example.org",
    "DATABASE_URL": "postgresql://u:pw@db.example.org/agent2",
    "REDIS_URL": "redis://:pw@redis.example.org:6379/0",
}


def started(program: list[str], data: Path, given: dict[str, str]) -> tuple[int, list[str]]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("AGENT2_", "DJANGO_"))}
    told = {f"AGENT2_{name}": value for name, value in ({"DATA_DIR": str(data)} | given).items()}
    done = subprocess.run(
        [sys.executable, *program], cwd=ROOT, env=clean | told, capture_output=True, text=True, check=False
    )
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], str]:
    """What loading the settings under these variables fails with; empty when it does not."""

    def load(given: dict[str, str]) -> str:
        for name in [name for name in os.environ if name.startswith("AGENT2_")]:
            monkeypatch.delenv(name)
        for name, value in ({"DATA_DIR": str(tmp_path)} | given).items():
            monkeypatch.setenv(f"AGENT2_{name}", value)
        try:
            runpy.run_path(str(ROOT / "config" / "settings.py"))
        except ImproperlyConfigured as error:
            return str(error)
        return ""

    return load


WRONG = [
    ({"DEPLOYMENT": "prod"}, "AGENT2_DEPLOYMENT='prod' must be one of embedded, production."),
    ({"PUBLIC_URL": "bench.example.org"}, "AGENT2_PUBLIC_URL must begin with https:// or http:// and name a host"),
    ({"PUBLIC_URL": "https://bench.example.org"}, "AGENT2_ALLOWED_HOSTS must name bench.example.org"),
    ({"PUBLIC_URL": "http://localhost/agent2"}, "AGENT2_PUBLIC_URL must end with the host"),
    ({"WORKER_URL": "web:8000"}, "AGENT2_WORKER_URL must begin with"),
    ({"DATABASE_URL": "postgresql://u:pw@h:port/x"}, "AGENT2_DATABASE_URL has a port that is no number."),
    ({"DATABASE_URL": "mysql://h/x"}, "AGENT2_DATABASE_URL scheme 'mysql' must be sqlite or postgresql."),
    ({"REDIS_URL": "localhost:6379"}, "AGENT2_REDIS_URL must begin with redis://"),
    ({"BROKER_URL": "rabbit"}, "AGENT2_BROKER_URL must begin with redis://"),
    ({"EMAIL_URL": "smtp://h:abc"}, "AGENT2_EMAIL_URL must begin with smtp:// or smtps://"),
    ({"JUDGE_URL": "api", "JUDGE_MODEL": "m"}, "AGENT2_JUDGE_URL must begin with"),
    ({"OPENAI_URL": "api.example.org"}, "AGENT2_OPENAI_URL must begin with"),
    ({"BATCH_SIZE": "1.5"}, "AGENT2_BATCH_SIZE=1.5 must be a whole number."),
    ({"AGENT_SLOTS": "nan"}, "AGENT2_AGENT_SLOTS=nan must lie between 0 and 64."),
    ({"LOG_LEVEL": "loud"}, "AGENT2_LOG_LEVEL='loud' must be one of DEBUG, INFO"),
    ({"GPUS": "a,b"}, "AGENT2_GPUS=a,b must be numbers such as 0,1, or all."),
    ({"BATCH_INVARIANT": "1"}, "AGENT2_BATCH_INVARIANT=1 needs AGENT2_ENGINE=vllm and a GPU, not transformers on cpu"),
    (PRODUCTION | {"BATCH_INVARIANT": "1", "DEVICE": "cpu"}, "needs AGENT2_ENGINE=vllm and a GPU, not vllm on cpu"),
    ({"TASK_DIRS": "/nowhere"}, "AGENT2_TASK_DIRS names /nowhere, which is no folder here."),
    ({"AGENT_DIRS": "/nowhere"}, "AGENT2_AGENT_DIRS names /nowhere, which is no folder here."),
    ({"DATA_DIR": "/proc/x"}, "/proc/x cannot be used"),
    *((PRODUCTION | {name: ""}, f"Set AGENT2_{name}") for name in PRODUCTION if name != "DEPLOYMENT"),
    (PRODUCTION | {"DATABASE_URL": "sqlite:////tmp/x"}, "Set AGENT2_DATABASE_URL to a postgresql:// URL"),
    (PRODUCTION | {"PLACE": "gpu-1"}, "Set AGENT2_HOST_TOKEN beside AGENT2_PLACE"),
]


@pytest.mark.parametrize(("given", "told"), WRONG, ids=[told[:60] for _, told in WRONG])
def test_it_fails_with_one_line(given: dict[str, str], told: str, loaded: Callable[[dict[str, str]], str]) -> None:
    line = loaded(given)
    assert told in line
    assert "\n" not in line
    assert "pw" not in line


@pytest.mark.parametrize(
    "given",
    [{}, {"SECRET_KEY": "", "BATCH_SIZE": "", "LOG_LEVEL": ""}, PRODUCTION, PRODUCTION | {"BATCH_INVARIANT": "1"}],
)
def test_what_is_whole_starts(given: dict[str, str], loaded: Callable[[dict[str, str]], str]) -> None:
    """Empty is the same as unset."""
    assert loaded(given) == ""


@pytest.mark.parametrize(
    "program",
    [["manage.py", "check"], ["-m", "uvicorn", "config.asgi:application", "--port", "1", "--log-level", "warning"]],
)
def test_programs_say_that_line_alone(program: list[str], tmp_path: Path) -> None:
    code, lines = started(program, tmp_path, {"PUBLIC_URL": "nonsense"})
    assert code == 1
    assert lines == ["AGENT2_PUBLIC_URL must begin with https:// or http:// and name a host; a port is a number."]


def test_ipv6_is_a_host_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT2_X_URL", "http://[::1]:8000/")
    assert env.url("X_URL") == "http://[::1]:8000"


def test_a_folder_that_cannot_be_written(tmp_path: Path, loaded: Callable[[dict[str, str]], str]) -> None:
    (tmp_path / "file").write_text("")
    line = loaded({"DATA_DIR": str(tmp_path / "file")})
    assert line.endswith("set AGENT2_DATA_DIR to a folder that can be written.")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "run `manage.py migrate`."),
        ({"DATABASE_URL": "postgresql://u:pw@127.0.0.1:1/x"}, "set AGENT2_DATABASE_URL, or start it."),
    ],
)
@pytest.mark.parametrize("program", [["host", "list"], ["worker", "--queues", "default"]])
def test_commands_say_what_the_database_lacks(
    program: list[str], given: dict[str, str], told: str, tmp_path: Path
) -> None:
    code, lines = started(["manage.py", *program], tmp_path, given)
    assert code == 1
    assert lines[-1].endswith(told)
    assert not any("Traceback" in line or "psycopg.pool" in line for line in lines)


def test_every_key_of_the_deployment_is_masked_in_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("JUDGE_KEY", "SEARCH_KEY", "ENDPOINT_KEY", "SUGGESTER_KEY", "HOST_TOKEN", "METRICS_TOKEN")
    told = {name: f"secret-of-{name}" for name in names}
    mailed = {"EMAIL_URL": "smtp://user:secret-of-mail@host:587"}
    for name, value in ({"DATA_DIR": str(tmp_path)} | told | mailed).items():
        monkeypatch.setenv(f"AGENT2_{name}", value)
    loaded = runpy.run_path(str(ROOT / "config" / "settings.py"))
    assert {*told.values(), "secret-of-mail"} <= set(loaded["LOGGING"]["filters"]["secrets"]["keys"])


def test_a_worker_with_many_slots_has_a_connection_for_each(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slots = {"AGENT_SLOTS": "32", "GRADING_SLOTS": "8"}
    for name, value in (PRODUCTION | {"DATA_DIR": str(tmp_path)} | slots).items():
        monkeypatch.setenv(f"AGENT2_{name}", value)
    loaded = runpy.run_path(str(ROOT / "config" / "settings.py"))
    assert loaded["DATABASES"]["default"]["OPTIONS"]["pool"]["max_size"] == 60
