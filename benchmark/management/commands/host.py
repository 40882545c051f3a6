"""`manage.py host`: hosts of workers that share no disk with the web server."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from benchmark.models import Host, Run, Worker
from benchmark.services.hosts import host_drain, host_enrol, host_remove


class Command(BaseCommand):
    help = "Enrol, list, drain and remove hosts of workers (docs/operating.md)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        enrol = kinds.add_parser("enrol", help="print the command with which a host joins")
        enrol.add_argument("name")
        enrol.add_argument("--queues", default="agents,grading")
        for what in ("drain", "resume", "remove"):
            kinds.add_parser(what).add_argument("name")
        kinds.add_parser("list")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] == "list":
            return self._list()
        if options["what"] == "enrol":
            return self._enrol(options["name"], options["queues"].split(","))
        host = Host.objects.filter(name=options["name"]).first()
        if host is None:
            raise CommandError(f"There is no host {options['name']}.")
        if options["what"] == "remove":
            host_remove(host=host, actor=None)
            self.stdout.write(f"{host} is removed; stop its workers.")
        else:
            told = host_drain(host=host, draining=options["what"] == "drain", actor=None)
            self.stdout.write(f"{told} workers of {host} were told.")
        return None

    def _enrol(self, name: str, queues: list[str]) -> None:
        try:
            token = host_enrol(name=name, queues=queues, actor=None)
        except ValidationError as error:
            raise CommandError(
                "\n".join(f"{field}: {told[0]}" for field, told in error.message_dict.items())
            ) from error
        self.stdout.write("On that host, within a day, with Docker:\n")
        self.stdout.write(
            "  docker run --rm --user 0 -v /srv/agent2:/srv/agent2 agent2-worker:latest "
            f"join {settings.PUBLIC_URL} {token}\n  docker compose -f docker-compose.host.yml up -d"
        )
        self.stdout.write("or without, in a checkout:\n")
        self.stdout.write(f"  python -m benchmark.join {settings.PUBLIC_URL} {token} --start")

    def _list(self) -> None:
        for host in Host.objects.all():
            workers = Worker.objects.filter(place=host.name).recent()
            held = Run.objects.filter(place=host.name, state__in=("preparing", "running")).count()
            state = "removed" if host.removed_at else "joined" if host.joined_at else "enrolled"
            gpus = max((len(worker.gpus) for worker in workers), default=0)
            told = ", ".join(f"{worker.name} {worker.standing}" for worker in workers) or "no worker was heard of"
            self.stdout.write(f"{host.name}: {state}, {gpus} GPUs, {held} runs; {told}")
