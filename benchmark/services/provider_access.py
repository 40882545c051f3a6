"""A run's way to its driver's provider, and what it has used of it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection, transaction

from benchmark.agent_folder import Agent
from benchmark.gateway.ledger import Ledger, Spent
from benchmark.gateway.prices import BadPrices, price_of, prices_read
from benchmark.gateway.provider_route import PREFIX, ProviderRoute
from benchmark.gateway.providers import Provider
from benchmark.gateway.routes import Route
from benchmark.gateway.usage import Usage
from benchmark.models import EventKind, Run, RunEvent
from benchmark.services.agent_tools import AgentUnavailable
from benchmark.services.events import event_record

NO_KEY = "held-by-the-gateway"
"""What agents are given where they insist on a key."""
VARIABLES = {
    "anthropic": ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "openai": ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY"),
    "gemini": ("GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""By what the provider's API speaks: names that its clients know."""


@dataclass(frozen=True)
class Access:
    """What one run may ask. `provider` is None for an agent without a driver."""

    provider: Provider | None
    model: str
    models: tuple[str, ...]
    ledger: Ledger

    def routes(self) -> Sequence[Route]:
        """For one gateway: a route belongs to the loop that it serves in."""
        return [ProviderRoute(self.provider, self.ledger, models=self.models)] if self.provider else []

    def environment(self) -> dict[str, str]:
        """The sandbox fills in `{gateway}`."""
        if self.provider is None:
            return {}
        url = "{gateway}" + PREFIX + self.provider.name
        named = {name: url if "KEY" not in name else NO_KEY for name in VARIABLES[self.provider.dialect]}
        return named | {
            "PROVIDER": self.provider.name,
            "PROVIDER_DIALECT": self.provider.dialect,
            "PROVIDER_MODEL": self.model,
            "PROVIDER_URL": url,
            "PROVIDER_KEY": NO_KEY,
        }


def provider_problem(agent: Agent, driver: str, *, money: bool = False) -> str:
    """One sentence that says why this worker cannot lead that driver to its provider; empty when it can.

    `money`: the run has a budget in dollars, so its model needs a price.
    """
    name, model = agent.driver_parts(driver)
    if not name:
        known = ", ".join(agent.drivers)
        if not any(agent.driver_parts(each)[0] for each in agent.drivers):
            return ""  # an agent that asks nobody: its driver is a word of its own
        return "" if driver == "none" else f"{agent.title} has no driver {driver!r}; it declares {known}."
    if name not in settings.PROVIDERS:
        upper = name.upper()
        where = f" and AGENT2_{upper}_URL" if name == "compatible" else ""
        return f"{agent.title} with {driver} needs AGENT2_{upper}_KEY{where}, set on the workers."
    try:
        priced = price_of(model, prices_read(settings.PRICES_FILE))
    except BadPrices as error:
        return str(error)
    if money and priced is None:
        return f"A budget in dollars needs the price of {model}: name it in the file AGENT2_PRICES."
    return ""


def provider_access(run: Run, agent: Agent, folder: Path) -> Access:
    """Open the run's accounts; the log of requests is `folder`/provider.jsonl.

    Raises: AgentUnavailable: a key or a price is missing.
    """
    tokens, money = run.token_budget or settings.RUN_TOKENS, run.cost_budget_usd or settings.RUN_COST_USD
    if problem := provider_problem(agent, run.driver, money=money is not None):
        raise AgentUnavailable(problem)
    name, model = agent.driver_parts(run.driver)
    before, by_model = _counted(run)
    ledger = Ledger(
        prices_read(settings.PRICES_FILE),
        tokens_most=tokens,
        usd_most=money,
        log_path=folder / "provider.jsonl",
        spent=before,
        by_model=by_model,
    )
    models = (model, f"{model}-20*", *agent.models) if model else ()
    return Access(settings.PROVIDERS.get(name), model, models, ledger)


def _counted(run: Run) -> tuple[Spent, dict[str, int]]:
    """What a worker before this one has recorded of the run."""
    last = (
        RunEvent.objects.filter(run=run, kind=EventKind.TOKENS).order_by("-seq").values_list("data", flat=True).first()
    )
    if last is None:
        return Spent(), {}
    usage = Usage(*(last[part.name] for part in fields(Usage)))
    return Spent(usage, last["cost_usd"], last["requests"], last["failures"]), dict(last["models"])


def run_spent_store(run_id: int, ledger: Ledger, before: Spent) -> Spent:
    """Record what was used since `before`; returns what is recorded now. A database that is away waits.

    The event's data: `total`, `input`, `cached`, `written`, `output` (tokens so far), `requests`, `failures`,
    `cost_usd` (null: unknown), `models` (tokens by model).
    """
    spent = ledger.spent()
    if spent == before:
        return before
    try:
        with transaction.atomic():
            Run.objects.filter(pk=run_id).update(tokens=spent.usage.total, cost_usd=spent.cost_usd)
            event_record(
                run_id,
                EventKind.TOKENS,
                **vars(spent.usage),
                total=spent.usage.total,
                requests=spent.requests,
                failures=spent.failures,
                cost_usd=spent.cost_usd,
                models=ledger.by_model(),
            )
    except DatabaseError:
        connection.close()
        return before
    return spent
