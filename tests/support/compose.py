"""The stack of docker-compose.yml, brought up for real beside whatever else the engine runs.

What its images are made of besides ours comes from the distribution's packages where no image registry can be
reached (scripts/docker_service_images.sh). The proxy has a certificate authority of its own; workers reach the site
through it, as hosts elsewhere do.
"""

import json
import os
import re
import secrets
import shutil
import ssl
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from tests.support.docker_image import BASE, host_python_image
from tests.support.platform import AGENTS, ROOT, free_port

SITE = "bench.test"
VERSION = "test"
LIMIT = "20"
"""Held-out items that are graded: real ones, and fewer."""
PYTHON = "agent2-test-python:latest"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
BY_HAND = [
    pytest.mark.skipif(
        not os.environ.get("AGENT2_TEST_COMPOSE"),
        reason="builds images and brings up the stack, many minutes on two cores: AGENT2_TEST_COMPOSE=1 does it",
    )
]
ENDS = ("finished", "failed", "cancelled", "timed_out")


def environment() -> dict[str, str]:
    """Without settings of ours, which would count before those of .env."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AGENT2_")}


def docker(*args: str, **given: Any) -> str:
    """What the engine's client prints. Raises: AssertionError: it fails."""
    done = subprocess.run(["docker", *args], capture_output=True, text=True, check=False, env=environment(), **given)
    assert done.returncode == 0, f"docker {' '.join(args)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    told: str = done.stdout
    return told


def stand_ins() -> dict[str, str]:
    """Everything but our own images; the settings of a sandbox that is this machine's own Python, mounted.

    `docker compose build sandbox` takes long. Skips where there is no engine, no base image or no compose.
    """
    sandbox = host_python_image()
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("no Docker Compose: scripts/docker_compose_plugin.sh installs it")
    subprocess.run(["bash", "scripts/docker_service_images.sh"], cwd=ROOT, check=True, capture_output=True)
    # What this machine trusts, the certificate of a package mirror for instance, the builds must trust too.
    lines = f"FROM {BASE}\nCOPY {CERTIFICATES.name} {CERTIFICATES}\nENV PIP_CERT={CERTIFICATES}\n"
    with tempfile.TemporaryDirectory() as context:
        shutil.copyfile(CERTIFICATES, Path(context) / CERTIFICATES.name)
        (Path(context) / "Dockerfile").write_text(lines)
        docker("build", "-q", "-t", PYTHON, context)
    return sandbox


def without_token(printed: str) -> str:
    """Agents print addresses with their run's token in it; what is stored of that is masked."""
    return re.sub(r"/grading/[^/\"]+", "/grading/•••", printed)


@dataclass
class Stack:
    """One project of compose with a data folder of its own. `up`, and in any case `down`."""

    folder: Path
    project: str
    sandbox: Mapping[str, str] = field(default_factory=dict)
    http_port: int = field(default_factory=free_port)
    https_port: int = field(default_factory=free_port)
    listen: str = "127.0.0.1"
    """The address at which this machine offers the stack's ports; any other one offers the services' as well."""
    words: Mapping[str, str] = field(default_factory=lambda: {n: secrets.token_hex(16) for n in ("key", "db", "redis")})
    client: httpx.Client = field(init=False)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def root(self) -> Path:
        """The certificate of the proxy's own authority."""
        return self.data / "root.crt"

    @property
    def host(self) -> str:
        """The site's address as browsers know it, without the scheme."""
        return f"{SITE}:{self.https_port}"

    def interpolated(self) -> dict[str, str]:
        """What .env says; see .env.example."""
        return {
            "AGENT2_SECRET_KEY": self.words["key"],
            "POSTGRES_PASSWORD": self.words["db"],
            "REDIS_PASSWORD": self.words["redis"],
            "AGENT2_PUBLIC_URL": f"https://{self.host}",
            "AGENT2_ALLOWED_HOSTS": SITE,
            "AGENT2_SITE": SITE,
            "AGENT2_TLS": "tls internal",
            "AGENT2_VERSION": VERSION,
            "PYTHON_IMAGE": PYTHON,
            "WORKER_REQUIREMENTS": "requirements-web.txt",
            "AGENT2_DATA_DIR": str(self.data),
            "AGENT2_ENV_FILE": str(self.folder / ".env"),
            "DOCKER_GID": str(Path("/var/run/docker.sock").stat().st_gid),
            "HTTP_PORT": f"{self.listen}:{self.http_port}",
            "HTTPS_PORT": f"{self.listen}:{self.https_port}",
        }

    def write(self) -> None:
        """The two files that an operator would write."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        agents = self.data / "agents"
        own = {
            "AGENT2_ENGINE": "transformers",
            "AGENT2_DEVICE": "cpu",
            "AGENT2_AGENT_DIRS": str(agents),
            "AGENT2_API_PER_MINUTE_ANONYMOUS": "0",
            "AGENT2_GRADING_LIMIT": LIMIT,
            **self.sandbox,
        }
        if self.listen != "127.0.0.1":
            own["AGENT2_HOSTS_DATABASE_URL"] = f"postgresql://agent2:{self.words['db']}@{self.listen}:5432/agent2"
            own["AGENT2_HOSTS_REDIS_URL"] = f"redis://:{self.words['redis']}@{self.listen}:6379/0"
        lines = (f"{name}={value}\n" for name, value in {**self.interpolated(), **own}.items())
        (self.folder / ".env").write_text("".join(lines))
        seen = [f"{path}:{path}:ro" for path in self.sandbox.get("AGENT2_SANDBOX_READ_ONLY", "").split(",") if path]
        worker = {
            "environment": {"AGENT2_WORKER_URL": f"https://{SITE}", "SSL_CERT_FILE": str(self.root)},
            "volumes": seen,
        }
        more: dict[str, Any] = {f"worker-{name}": worker for name in ("default", "agents", "grading")}
        proxy = {"networks": {"default": {"aliases": [SITE]}}}
        if self.listen != "127.0.0.1":
            more |= {
                "postgres": {"ports": [f"{self.listen}:5432:5432"]},
                "redis": {"ports": [f"{self.listen}:6379:6379"]},
            }
        (self.folder / "more.yml").write_text(yaml.safe_dump({"services": {"proxy": proxy, **more}}))
        shutil.copytree(AGENTS, agents, dirs_exist_ok=True)

    @property
    def command(self) -> list[str]:
        files = ["-f", str(ROOT / "docker-compose.yml"), "-f", str(self.folder / "more.yml")]
        where = ["--project-directory", str(ROOT), "--env-file", str(self.folder / ".env")]
        return ["compose", "-p", self.project, *where, *files]

    def compose(self, *args: str) -> str:
        return docker(*self.command, *args)

    def script(self, name: str, *args: str) -> str:
        """One of scripts/, as an operator runs it for this stack."""
        given = {"COMPOSE": " ".join(["docker", *self.command]), "AGENT2_ENV_FILE": str(self.folder / ".env")}
        done = subprocess.run(
            ["bash", f"scripts/{name}", *args],
            cwd=ROOT, env={**environment(), **given}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        told = done.stdout + done.stderr
        assert done.returncode == 0, told + self.compose("logs", "--tail", "30", "migrate", "web")[-4000:]
        return done.stdout.strip().splitlines()[-1]

    def build(self) -> None:
        self.compose("build", "-q", "web", "worker-default")
        # The worker's user must pass through the folders above this machine's Python, which sandboxes are shown.
        folders = self.sandbox["AGENT2_SANDBOX_READ_ONLY"].split(",")
        above = " ".join(sorted({str(each) for path in folders for each in Path(path).parents if each != Path("/")}))
        image = f"agent2-worker:{VERSION}"
        lines = f"FROM {image}\nUSER root\nRUN mkdir -p {above} && chmod a+rx {above}\nUSER agent2\n"
        docker("build", "-q", "-t", image, "-", input=lines)

    def up(self, *services: str) -> None:
        """All services, or those with what they need. First the proxy, whose authority the workers are to trust."""
        try:
            self.compose("up", "-d", "--wait", "proxy")
            self.trust()
            self.compose("up", "-d", "--wait", *services)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.compose('logs', '--tail', '40')[-8000:]}") from error

    def trust(self) -> None:
        """Take the proxy's certificate and make the client that believes it."""
        theirs = "/data/caddy/pki/authorities/local/root.crt"
        self.until(lambda: self.compose("exec", "-T", "proxy", "find", "/data", "-path", theirs) != "", 300)
        self.root.write_text(self.compose("exec", "-T", "proxy", "cat", theirs))
        self.root.chmod(0o644)
        self.client = httpx.Client(verify=ssl.create_default_context(cafile=str(self.root)), timeout=30)

    def down(self) -> None:
        self.compose("down", "--volumes", "--timeout", "5")
        shutil.rmtree(self.folder)

    def left(self) -> list[str]:
        """What the engine still has of it."""
        label = f"label=com.docker.compose.project={self.project}"
        kinds = (["ps", "-aq"], ["volume", "ls", "-q"], ["network", "ls", "-q"])
        found = [line for kind in kinds for line in docker(*kind, "--filter", label).split()]
        return found + docker("ps", "-aq", "--filter", f"volume={self.data}").split()

    def manage(self, *args: str) -> str:
        return self.compose("exec", "-T", "web", "python", "manage.py", *args)

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Through the proxy, by the site's name."""
        return self.client.get(
            f"https://{self.listen}:{self.https_port}{path}",
            headers={"Host": self.host, **headers},
            extensions={"sni_hostname": SITE},
        )

    def json(self, path: str) -> Any:
        answer = self.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def health(self, service: str) -> str:
        told = json.loads(self.compose("ps", "-a", "--format", "json", service).splitlines()[0])
        return f"{told['State']} {told['Health']}".strip()

    def until(self, true: Callable[[], bool], timeout: float, what: str = "") -> None:
        deadline = time.monotonic() + timeout
        while not true():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {timeout} s: {what}\n{self.compose('logs', '--tail', '40')[-8000:]}")
            time.sleep(0.5)
