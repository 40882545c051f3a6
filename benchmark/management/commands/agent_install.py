"""`manage.py agent_install`: install agent systems for this worker."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.catalogue import CatalogueError, agent_get
from benchmark.services.agent_tools import AgentUnavailable, agent_tools_install, agent_tools_versions


class Command(BaseCommand):
    help = "Install an agent system's programs, once, into AGENT2_AGENT_TOOLS_DIR."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("agent", nargs="+")
        parser.add_argument("--again", action="store_true", help="even when it is there")

    def handle(self, *args: Any, **options: Any) -> None:
        for name in options["agent"]:
            try:
                agent = agent_get(name)
                folder = agent_tools_install(agent, progress=self.stdout.write, again=options["again"])
                count = len(agent_tools_versions(agent))
            except (CatalogueError, AgentUnavailable) as error:
                raise CommandError(str(error)) from error
            self.stdout.write(f"{agent.title} {agent.version}: {folder or 'nothing to install'}, {count} packages")
