"""The engine of a model that runs elsewhere and is asked over OpenAI's wire format, through the worker's socket.

With the checkpoint's folder at hand (`vllm serve` of the same files) it sends token ids to `/v1/completions`: the same
prompts, stops and decoding as the engines in this process. Without one it sends messages to `/v1/chat/completions`, and
the endpoint's own template and tokenizer apply. Address, model and key are put in outside
(grading/outside/endpoint.py).
"""

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import Any

import httpx

from benchmark.tasks.contract import Completion, FinishReason
from grading.contract import RunnerSpec
from grading.runner.engines.protocol import Request
from grading.runner.faults import InfraFault
from grading.runner.services import LONG_WAIT, socket_address
from grading.runner.stops import Decoder, cut_at_stops

LOOK_S = 0.05
"""`step` returns after so long without a completion: an episode may have a further prompt meanwhile."""
DUMMY_KEY = "sandbox"
REASONS: Mapping[object, FinishReason] = {"stop": "stop", "length": "length"}


class OpenAiEngine:
    """As many requests at once as episodes are in flight; the worker bounds how many reach the endpoint at a time."""

    def __init__(self, spec: RunnerSpec, decoder: Decoder | None) -> None:
        self._outside = spec.outside
        self._model = spec.endpoint or ""
        self._decoder = decoder
        """None: there is no checkpoint folder, prompts are messages."""
        self._asked: dict[Future[Completion], int] = {}
        self._decoded_here = decoder is not None
        self._loop = asyncio.new_event_loop()
        self.sampling: Mapping[str, Any] = {"n": 1, "temperature": 0.0, "top_p": 1.0, "seed": spec.seed}
        if decoder is not None:
            self.sampling = {**self.sampling, **_VLLM, "stop_token_ids": sorted(decoder.stop_ids)}

    def load(self) -> None:
        """Open the way to the worker. Raises: InfraFault: I_PROVIDER, the spec names no socket."""
        if self._outside is None:
            raise InfraFault("I_PROVIDER", "the engine openai asks through a socket; the spec names none as `outside`")
        transport = httpx.AsyncHTTPTransport(
            uds=socket_address(Path(self._outside)), limits=httpx.Limits(max_connections=None)
        )
        self._client = httpx.AsyncClient(
            transport=transport,
            base_url="http://outside/v1",
            timeout=LONG_WAIT,
            headers={"authorization": f"Bearer {DUMMY_KEY}"},
        )
        # A daemon: after a fault the process ends without waiting for the requests that are still open.
        threading.Thread(target=self._loop.run_forever, name="endpoint", daemon=True).start()

    def probe(self, tokens: tuple[int, ...]) -> None:
        """One token after one prompt, where prompts are tokens: an endpoint with another vocabulary refuses it."""
        if self._decoder is not None:
            self._send(Request(tokens, 1)).result()

    def submit(self, key: int, request: Request) -> None:
        """Ask for one completion."""
        self._asked[self._send(request)] = key

    def step(self) -> list[tuple[int, Completion]]:
        """What has been answered. Raises: InfraFault: I_PROVIDER."""
        done, _ = wait(self._asked, timeout=LOOK_S, return_when=FIRST_COMPLETED)
        return [(self._asked.pop(future), future.result()) for future in done]

    def versions(self) -> dict[str, str]:
        """Which API answers, in which form prompts are sent, and who decodes."""
        told = {"batching": "endpoint", "endpoint": self._model}
        if self._decoder is None:
            return {
                **told,
                "api": "chat/completions",
                "template": "endpoint",
                "prompts": "messages; raw texts as one user message",
            }
        decoding = "token ids" if self._decoded_here else "endpoint"
        return {**told, "api": "completions", "prompts": "token ids", "decoding": decoding}

    def metrics(self) -> dict[str, float | None]:
        """None: the worker counts."""
        return {}

    def _send(self, request: Request) -> Future[Completion]:
        return asyncio.run_coroutine_threadsafe(self._complete(request), self._loop)

    async def _complete(self, request: Request) -> Completion:
        body: dict[str, Any] = {**self.sampling, "model": self._model, "max_tokens": request.max_tokens}
        if request.stop:
            body["stop"] = list(request.stop)
        if self._decoder is None:
            messages = [{"role": turn.role, "content": turn.content} for turn in request.messages]
            return self._read(await self._post("/chat/completions", {**body, "messages": messages}), request)
        return self._read(await self._post("/completions", {**body, "prompt": list(request.tokens)}), request)

    async def _post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            answer = await self._client.post(path, json=body)
            told = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise InfraFault("I_PROVIDER", f"the worker does not answer on its socket: {error!r}") from error
        if not isinstance(told, dict) or answer.status_code != httpx.codes.OK:
            detail = told.get("detail", answer.status_code) if isinstance(told, dict) else told
            raise InfraFault("I_PROVIDER", str(detail))
        return told

    def _read(self, told: Mapping[str, Any], request: Request) -> Completion:
        """The completion in an answer. Raises: InfraFault: I_PROVIDER, there is none, or it was withheld."""
        try:
            choice = told["choices"][0]
            text = choice["message"]["content"] if self._decoder is None else choice["text"]
            reason = REASONS[choice["finish_reason"]]
        except (KeyError, IndexError, TypeError) as error:
            raise InfraFault("I_PROVIDER", f"the endpoint's answer is no finished completion: {error!r}") from error
        ids = choice.get("token_ids")
        if self._decoder is not None and isinstance(ids, list) and all(isinstance(number, int) for number in ids):
            spoken = ids[:-1] if ids and ids[-1] in self._decoder.stop_ids else ids
            return Completion(self._decoder.text(spoken, request.stop), len(ids), reason)
        self._decoded_here = False
        usage = told.get("usage")
        tokens = usage.get("completion_tokens") if isinstance(usage, dict) else None
        # JSON may hold half a surrogate pair, which is no text. No content at all is what an empty answer looks like.
        whole = str(text or "").encode("utf-8", "replace").decode("utf-8")
        return Completion(cut_at_stops(whole, request.stop), tokens if isinstance(tokens, int) else 0, reason)


_VLLM: Mapping[str, Any] = {
    "top_k": 0,
    "min_p": 0.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
    "min_tokens": 0,
    "ignore_eos": False,
    "return_token_ids": True,
}
"""Every further field explicit, so that no generation_config of the server decides."""
