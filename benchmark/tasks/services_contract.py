"""What an evaluator may ask of the world outside its sandbox, when its `task.yaml` says that it `needs` it.

The sandbox of an evaluation has no network. The worker answers these requests through one UNIX socket: it holds the
keys, repeats what fails, and keeps every answer, so that grading the same outputs again sees the same world.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Need = Literal["judge", "search"]


class ServiceFault(Exception):
    """The judge or the search gave no usable answer, after retries: nobody's score, the evaluation is tried again."""


@dataclass(frozen=True)
class Hit:
    """One result of a search."""

    title: str
    url: str
    snippet: str


class Services(Protocol):
    """Handed to an evaluator that has a method `connect(services)`, before its first episode; threads may share it."""

    def chat(self, request: Mapping[str, Any], *, fresh: bool = False) -> Mapping[str, Any]:
        """The judge's answer to the body of an OpenAI Chat Completions request; its `model` is filled in outside.

        Answers are kept: the same request gets the same answer. `fresh` asks anew and keeps the new one: for an answer
        that nothing could be made of.

        Raises: ServiceFault.
        """
        ...

    def search(self, query: str, *, count: int) -> Sequence[Hit]:
        """At most `count` hits, best first.

        Raises: ServiceFault.
        """
        ...


def answer_of(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """The judge's answer in what came back. Raises: ServiceFault."""
    answer = told.get("answer")
    if not isinstance(answer, dict):
        raise ServiceFault("the judge's answer did not arrive whole")
    return answer


def hits_of(told: Mapping[str, Any]) -> Sequence[Hit]:
    """The search's results in what came back. Raises: ServiceFault."""
    hits: Any = told.get("hits")
    try:
        return [Hit(title=hit["title"], url=hit["url"], snippet=hit["snippet"]) for hit in hits]
    except (TypeError, KeyError) as error:
        raise ServiceFault("the search's answer did not arrive whole") from error
