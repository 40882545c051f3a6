"""A judge and a search within the test's own process, for episodes without a model."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmark.tasks.contract import Completion, Item, Outcome, Prompt
from benchmark.tasks.deepsearchqa.evaluator import DeepSearchQA
from benchmark.tasks.services_contract import Hit, ServiceFault

HITS = [Hit("Order list", "https://www.court.example/2014/orders", "Certiorari was denied in 86 cases.")]


def ruling(details: Mapping[str, bool], excessive: Sequence[str] = ()) -> str:
    told = {"explanation": "because", "correctness_details": details, "excessive_answers": list(excessive)}
    return json.dumps(told)


@dataclass
class ScriptedServices:
    """Implements `Services`: `replies` are the judge's, one a question; `hits` what every search finds."""

    replies: list[str] = field(default_factory=list)
    hits: Sequence[Hit] = tuple(HITS)
    searches: int = 99
    """So many succeed."""
    asked: list[Mapping[str, Any]] = field(default_factory=list)
    fresh: list[bool] = field(default_factory=list)
    queries: list[tuple[str, int]] = field(default_factory=list)

    def chat(self, request: Mapping[str, Any], *, fresh: bool = False) -> Mapping[str, Any]:
        self.asked.append(request)
        self.fresh.append(fresh)
        if not self.replies:
            raise ServiceFault("the judge cannot be reached")
        return {"choices": [{"message": {"role": "assistant", "content": self.replies.pop(0)}}]}

    def search(self, query: str, *, count: int) -> Sequence[Hit]:
        self.queries.append((query, count))
        if len(self.queries) > self.searches:
            raise ServiceFault("the search is down")
        return self.hits


def play(services: ScriptedServices, item: Item, speak: Callable[[str], str]) -> tuple[Outcome, list[Prompt]]:
    """One episode in which `speak` continues each prompt."""
    task = DeepSearchQA()
    task.connect(services)
    episode = task.episode(item)
    prompts = [next(episode)]
    while True:
        text = speak(prompts[-1].text)
        try:
            prompts.append(episode.send(Completion(text, len(text), "stop")))
        except StopIteration as end:
            outcome: Outcome = end.value
            return outcome, prompts


def in_order(*texts: str) -> Callable[[str], str]:
    left = list(texts)
    return lambda _: left.pop(0)
