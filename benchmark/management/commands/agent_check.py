"""`manage.py agent_check`: whether agent systems can run on this worker."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from benchmark.agent_folder import Agent
from benchmark.catalogue import CatalogueError, agent_get, agents
from benchmark.services.agent_check import agent_problems
from benchmark.services.agent_tools import AgentUnavailable, agent_tools_versions


class Command(BaseCommand):
    help = "Say of each agent system, or of the named one, whether it could run here. Ends with 1 when one could not."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("agent", nargs="*", help="default: all")
        parser.add_argument("--driver", default="", help="default: the agent's first")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            chosen = [agent_get(name) for name in options["agent"]] or list(agents().values())
        except CatalogueError as error:
            raise CommandError(str(error)) from error
        ready = [self._told(agent, options["driver"] or agent.drivers[0]) for agent in chosen]
        if not all(ready):
            raise CommandError("Not every agent can run here.")

    def _told(self, agent: Agent, driver: str) -> bool:
        problems = agent_problems(agent, driver)
        self.stdout.write(f"{agent.id} {agent.version} with {driver}: {'cannot run here' if problems else 'ready'}")
        for problem in problems:
            self.stdout.write(f"  {problem}")
        try:
            for name, version in sorted(agent_tools_versions(agent).items())[:5]:
                self.stdout.write(f"  {name} {version}")
        except AgentUnavailable:
            pass
        return not problems
