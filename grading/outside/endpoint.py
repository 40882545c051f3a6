"""A model behind an API in OpenAI's format, asked for a runner that knows neither address nor key.

`/v1/chat/completions` and `/v1/completions` as in platform.openai.com/docs/api-reference and docs.vllm.ai.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from grading.outside.provider import Provider, ProviderFault
from grading.outside.route import HandlerRoute

Api = Literal["completions", "chat/completions"]
PROMPT: Mapping[Api, str] = {"completions": "prompt", "chat/completions": "messages"}
"""The key of a request's prompt."""
HINT = " AGENT2_ENDPOINT_URL, _MODEL, _KEY and _PARAMETERS say how it is asked."


@dataclass(frozen=True)
class EndpointSettings:
    """How the model is reached. `parameters` are put into every request; None takes a parameter out."""

    url: str
    """Of the API, such as `https://api.openai.com/v1`; the path is added."""
    model: str
    key: str = field(default="", repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int = 16
    timeout_s: float = 600.0
    patience_s: float = 600.0


class Endpoint:
    """Answers `POST /v1/<api>` with what the endpoint answers. Nothing is kept: each evaluation asks anew."""

    def __init__(self, settings: EndpointSettings, api: Api) -> None:
        self._settings = settings
        self._api = api
        self._provider = Provider(
            "The endpoint",
            timeout_s=settings.timeout_s,
            patience_s=settings.patience_s,
            concurrency=settings.concurrency,
            secrets=(settings.key,),
        )
        self.counts = self._provider.counts
        self._models: set[str] = set()

    def route(self) -> HandlerRoute:
        return HandlerRoute(f"/v1/{self._api}", self, self._provider.close)

    async def __call__(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raises: ProviderFault; ValueError: there is no prompt in what was asked."""
        if not isinstance(asked.get(PROMPT[self._api]), list):
            raise ValueError(f"a request to {self._api} has a list as {PROMPT[self._api]}")
        settings = self._settings
        whole = {**asked, **settings.parameters, "model": settings.model, "stream": False}
        body = {name: value for name, value in whole.items() if value is not None}
        headers = {"authorization": f"Bearer {settings.key}"} if settings.key else {}
        url = f"{settings.url.rstrip('/')}/{self._api}"
        try:
            told = await self._provider.ask("POST", url, check=_check, json=body, headers=headers)
        except ProviderFault as fault:
            raise ProviderFault(f"{fault}{'' if fault.passing else HINT}", passing=fault.passing) from None
        self._models.add(str(told.get("model", "unnamed")))
        usage = told.get("usage")
        if isinstance(usage, dict):
            self.counts.tokens_in += _whole(usage.get("prompt_tokens"))
            self.counts.tokens_out += _whole(usage.get("completion_tokens"))
        return told

    def versions(self) -> dict[str, str]:
        """The models that say they answered: a name may stand for a dated version."""
        told = {"endpoint_answered_as": ", ".join(sorted(self._models))}
        if self._settings.parameters:
            told["endpoint_parameters"] = json.dumps(dict(self._settings.parameters), sort_keys=True)
        return told

    def metrics(self) -> dict[str, float | None]:
        return {
            "endpoint_calls": self.counts.calls,
            "endpoint_retries": self.counts.retries,
            "endpoint_tokens_in": self.counts.tokens_in,
            "endpoint_tokens_out": self.counts.tokens_out,
        }


def _check(told: Mapping[str, Any]) -> None:
    choices = told.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ProviderFault(f"The endpoint answered with no completion but with the keys {sorted(told)[:9]}")


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0
