"""`manage.py demo`: the whole platform on this machine, with one real run."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from benchmark.models import Run
from benchmark.services.runs import run_create
from benchmark.services.worker_check import disk_problem, worker_problems
from grading.selectors import standing

OPERATOR = "operator"
MADE_HERE = "made by manage.py demo"
"""The last name of the account, by which later demos know that it is theirs."""
PORT_MOST = 65_535


class Command(BaseCommand):
    help = "Migrate, load published results, start a server, a worker and one example run. Ctrl-C ends everything."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--budget", type=int, default=420, help="seconds")
        parser.add_argument("--exit", action="store_true", help="end when the run has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.EMBEDDED:
            raise CommandError("The demo is for the embedded default: leave AGENT2_DEPLOYMENT unset.")
        if problem := disk_problem():
            raise CommandError(problem)
        port = free_port(options["port"])
        url = f"http://127.0.0.1:{port}"
        environment = os.environ | {"AGENT2_PUBLIC_URL": url, "AGENT2_WORKER_URL": url}
        settings.PUBLIC_URL = url
        call_command("migrate", verbosity=0)
        call_command("load_published", verbosity=0)
        if problems := worker_problems({"default", "agents", "grading"}):
            raise CommandError("\n".join(["The demo's worker could not work:", *problems]))
        password = self._operator()
        children = [start("server.log", environment, "-m", "uvicorn", *server_args(port))]
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            wait_for(f"{url}/", children)
            run = run_create(agent="example", task="arithmetic", base_model="tiny", budget_s=options["budget"])
            self._say(f"{url}/runs/{run.slug}/", password)
            children.append(start("worker.log", environment, "manage.py", "worker"))
            self._stay(run, children, until_ended=options["exit"])
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from error
        except KeyboardInterrupt:
            self.stdout.write("\nending")
        finally:
            end(children)

    def _operator(self) -> str:
        """An account for the web forms, with a new password each time; kept nowhere but in the terminal.

        Empty where somebody has such an account already: it is left alone.
        """
        user, _ = get_user_model().objects.get_or_create(
            username=OPERATOR, defaults={"is_superuser": True, "is_staff": True, "last_name": MADE_HERE}
        )
        if user.last_name != MADE_HERE:
            return ""
        password = secrets.token_urlsafe(12)
        user.set_password(password)
        user.save()
        return password

    def _say(self, url: str, password: str) -> None:
        self.stdout.write(f"\n  {url}\n\n  The page is live. The run takes about six minutes on two cores.")
        how = f"with {password}" if password else "with your own password: the account was there before"
        self.stdout.write(f"  To start or cancel runs, sign in as {OPERATOR} {how}")
        self.stdout.write(f"  Logs: {settings.DATA_DIR}/logs   Ctrl-C ends everything.\n")
        self.stdout.flush()

    def _stay(self, run: Run, children: list[subprocess.Popen[bytes]], *, until_ended: bool) -> None:
        told = ""
        while True:
            for child in children:
                if child.poll() is not None:
                    raise CommandError(
                        f"A child process ended with code {child.returncode}: see {settings.DATA_DIR}/logs"
                    )
            run.refresh_from_db()
            best = standing(run).best
            line = f"  run {run.state} {run.step}" + (f", best so far {best:.2f}" if best is not None else "")
            if line != told:
                told = line
                self.stdout.write(line)
                self.stdout.flush()
            if until_ended and run.terminal:
                return
            time.sleep(1)


def server_args(port: int) -> list[str]:
    return ["config.asgi:application", "--host", "127.0.0.1", "--port", str(port), "--log-level", "warning"]


def free_port(first: int) -> int:
    """The first port from `first` on that nobody listens on."""
    if not 1 <= first <= PORT_MOST:
        raise CommandError(f"{first} is no port: give --port a number from 1 to {PORT_MOST}.")
    for port in range(first, min(first + 50, PORT_MOST + 1)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise CommandError(f"No port from {first} on is free: give --port.")


def start(log: str, environment: dict[str, str], *args: str) -> subprocess.Popen[bytes]:
    """A child process in a session of its own, its output in the logs folder."""
    path = Path(settings.DATA_DIR) / "logs" / log
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, *args],
            cwd=settings.BASE_DIR,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def wait_for(url: str, children: list[subprocess.Popen[bytes]]) -> None:
    """Until the server answers. Raises: CommandError: it ended, or said nothing for 30 s."""
    for _ in range(300):
        if children[0].poll() is not None:
            break
        try:
            httpx.get(url, timeout=5)
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise CommandError(f"The server did not start: see {settings.DATA_DIR}/logs/server.log")


def end(children: list[subprocess.Popen[bytes]]) -> None:
    """Ask every child to end, then make it."""
    for child in children:
        child.terminate()
    for child in children:
        try:
            child.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
