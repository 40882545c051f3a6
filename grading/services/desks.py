"""What answers a grading runner outside its sandbox, from this worker's settings."""

from pathlib import Path
from typing import Protocol

from django.conf import settings

from benchmark.catalogue import Task
from benchmark.services.needs import needs_missing, needs_suffix
from benchmark.services.protocols import protocol_unlimited
from grading.outside.endpoint import Api, Endpoint, EndpointSettings
from grading.outside.judge import Judge, JudgeSettings
from grading.outside.route import HandlerRoute
from grading.outside.search.configure import SearchSettings, open_search
from grading.outside.store import AnswerStore


class NotConfigured(Exception):
    """This worker cannot answer what the evaluation will ask; the message names the setting."""


class Desk(Protocol):
    """Answers one kind of question."""

    def route(self) -> HandlerRoute: ...

    def metrics(self) -> dict[str, float | None]:
        """What it was asked, for the verdict."""
        ...

    def versions(self) -> dict[str, str]:
        """Who answered, for the verdict."""
        ...


def desks_of_task(task: Task, protocol: str) -> list[Desk]:
    """One for each of the task's needs, none where it needs nothing.

    Raises: NotConfigured: a setting is missing, or the protocol names another judge or search; SearchNotConfigured.
    """
    if missing := needs_missing(task):
        raise NotConfigured(missing)
    asked, here = protocol_unlimited(protocol), task.protocol + needs_suffix(task)
    if task.needs and asked != here:
        raise NotConfigured(f"This evaluation belongs to {asked}; with this worker's settings it would be {here}.")
    openers = {"judge": judge_desk, "search": search_desk}
    return [openers[need]() for need in task.needs]


def judge_desk() -> Desk:
    judge = JudgeSettings(
        url=settings.JUDGE_URL,
        model=settings.JUDGE_MODEL,
        key=settings.JUDGE_KEY,
        parameters=settings.JUDGE_PARAMETERS,
        price_in=settings.JUDGE_PRICE_IN,
        price_out=settings.JUDGE_PRICE_OUT,
        concurrency=settings.JUDGE_CONCURRENCY,
        timeout_s=settings.JUDGE_TIMEOUT_S,
        patience_s=settings.JUDGE_PATIENCE_S,
    )
    return Judge(judge, AnswerStore(Path(settings.DATA_DIR) / "answers" / "judge"))


def search_desk() -> Desk:
    search = SearchSettings(
        backend=settings.SEARCH_BACKEND,
        url=settings.SEARCH_URL,
        key=settings.SEARCH_KEY,
        snapshot=settings.SEARCH_SNAPSHOT,
        mode=settings.SEARCH_MODE,
    )
    return open_search(search, Path(settings.DATA_DIR) / "answers" / "search")


def endpoint_desk(model: str, api: Api) -> Desk:
    """The endpoint that is evaluated. Raises: NotConfigured."""
    if not settings.ENDPOINT_URL:
        raise NotConfigured("Set AGENT2_ENDPOINT_URL to the API's address, such as https://api.openai.com/v1.")
    endpoint = EndpointSettings(
        url=settings.ENDPOINT_URL,
        model=model,
        key=settings.ENDPOINT_KEY,
        parameters=settings.ENDPOINT_PARAMETERS,
        concurrency=settings.ENDPOINT_CONCURRENCY,
        timeout_s=settings.ENDPOINT_TIMEOUT_S,
        patience_s=settings.ENDPOINT_PATIENCE_S,
    )
    return Endpoint(endpoint, api)
