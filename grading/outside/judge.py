"""The judge: any endpoint that speaks the OpenAI Chat Completions API (platform.openai.com/docs/api-reference/chat)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grading.outside.provider import Provider, ProviderFault
from grading.outside.route import HandlerRoute
from grading.outside.store import AnswerStore

PATH = "/judge"
HINT = " AGENT2_JUDGE_URL, AGENT2_JUDGE_MODEL, AGENT2_JUDGE_KEY and AGENT2_JUDGE_PARAMETERS say how the judge is asked."


@dataclass(frozen=True)
class JudgeSettings:
    """How the judge is reached. Prices are for a million tokens, in whatever currency the operator counts."""

    url: str
    """Of the API, such as `https://api.openai.com/v1`; `/chat/completions` is added."""
    model: str
    key: str = field(default="", repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Put into every request; None takes a parameter out."""
    price_in: float | None = None
    price_out: float | None = None
    concurrency: int = 8
    timeout_s: float = 120.0
    patience_s: float = 600.0


class Judge:
    """Answers `{"request": …, "fresh": …}` with `{"answer": …}`: the Chat Completions response, stored or new.

    `fresh` passes over a stored answer and replaces it: the evaluator could make nothing of that one.
    """

    def __init__(self, settings: JudgeSettings, store: AnswerStore) -> None:
        self._settings = settings
        self._store = store
        self._provider = Provider(
            "The judge",
            timeout_s=settings.timeout_s,
            patience_s=settings.patience_s,
            concurrency=settings.concurrency,
            secrets=(settings.key,),
        )
        self.counts = self._provider.counts
        self._models: set[str] = set()

    def route(self) -> HandlerRoute:
        return HandlerRoute(PATH, self, self._provider.close)

    async def __call__(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises: ProviderFault; ValueError: there is no request in what was asked."""
        request = asked.get("request")
        if not isinstance(request, dict) or not isinstance(request.get("messages"), list):
            raise ValueError("a request has messages")
        body = self._body(request)
        key = {"url": self._settings.url, "body": body}
        fresh = bool(asked.get("fresh"))
        answer = None if fresh else self._store.get(key)
        if answer is not None:
            self.counts.cache_hits += 1
        else:
            answer = self._store.put(key, await self._new(body), replace=fresh)
        self._models.add(str(answer.get("model", "unnamed")))
        return {"answer": answer}

    def _body(self, request: Mapping[str, Any]) -> dict[str, Any]:
        whole = {**request, **self._settings.parameters, "model": self._settings.model, "stream": False}
        return {name: value for name, value in whole.items() if value is not None}

    async def _new(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        settings = self._settings
        headers = {"authorization": f"Bearer {settings.key}"} if settings.key else {}
        try:
            told = await self._provider.ask(
                "POST", settings.url.rstrip("/") + "/chat/completions", check=_check, json=body, headers=headers
            )
        except ProviderFault as fault:
            raise ProviderFault(f"{fault}{'' if fault.passing else HINT}", passing=fault.passing) from None
        self._count(told.get("usage"))
        return told

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self.counts.tokens_in += _whole(usage.get("prompt_tokens"))
            self.counts.tokens_out += _whole(usage.get("completion_tokens"))

    def versions(self) -> dict[str, str]:
        """The models that say they answered: a name may stand for a dated version."""
        return {"judge": self._settings.model, "judge_answered_as": ", ".join(sorted(self._models))}

    def metrics(self) -> dict[str, float | None]:
        """Calls, cache hits, retries, tokens, and the cost where both prices are known."""
        counts, settings = self.counts, self._settings
        cost = None
        if settings.price_in is not None and settings.price_out is not None:
            cost = (counts.tokens_in * settings.price_in + counts.tokens_out * settings.price_out) / 1e6
        return {
            "judge_calls": counts.calls,
            "judge_cache_hits": counts.cache_hits,
            "judge_retries": counts.retries,
            "judge_tokens_in": counts.tokens_in,
            "judge_tokens_out": counts.tokens_out,
            "judge_cost": cost,
        }


def _check(told: Mapping[str, Any]) -> None:
    choices = told.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ProviderFault(f"The judge answered with no chat completion but with the keys {sorted(told)[:9]}")


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
