"""The four APIs: how each asks and is answered. `events` are those of a stream, with their names if they have any."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from tests.support.scripted_provider.script import Asked, Told

Json = dict[str, Any]
Event = tuple[str, Json]
WIDTH = 30


class Api(Protocol):
    def asked(self, path: str, body: Json) -> Asked: ...

    def whole(self, asked: Asked, told: Told) -> Json: ...

    def events(self, asked: Asked, told: Told) -> Iterator[Event]: ...

    def error(self, status: int, message: str) -> Json: ...


def cut(text: str) -> Iterator[str]:
    """In pieces, as a model says it."""
    for at in range(0, len(text), WIDTH):
        yield text[at : at + WIDTH]


class Messages:
    """Anthropic."""

    def asked(self, path: str, body: Json) -> Asked:
        blocks = [block for each in body["messages"] if isinstance(each["content"], list) for block in each["content"]]
        wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
        return Asked(
            model=body["model"],
            stream=bool(body.get("stream")),
            tools={each["name"]: each.get("input_schema") or {} for each in body.get("tools") or ()},
            results=[block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"],
            schema=wanted.get("schema"),
        )

    def whole(self, asked: Asked, told: Told) -> Json:
        content: list[Json] = [{"type": "text", "text": told.text}] if told.text else []
        if told.tool:
            content.append({"type": "tool_use", "id": f"toolu_{told.id}", "name": told.tool, "input": told.arguments})
        read, cached, said = told.tokens
        usage = {"input_tokens": read - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0}
        return {
            "id": f"msg_{told.id}",
            "type": "message",
            "role": "assistant",
            "model": asked.model,
            "content": content,
            "stop_reason": "tool_use" if told.tool else "end_turn",
            "stop_sequence": None,
            "usage": {**usage, "output_tokens": said},
        }

    def events(self, asked: Asked, told: Told) -> Iterator[Event]:
        message = self.whole(asked, told)
        opening = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
        yield "message_start", {"type": "message_start", "message": opening}
        for index, block in enumerate(message["content"]):
            text = block["type"] == "text"
            empty = {**block, "text": ""} if text else {**block, "input": {}}
            yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
            for piece in cut(block["text"] if text else json.dumps(block["input"])):
                kind, field = ("text_delta", "text") if text else ("input_json_delta", "partial_json")
                delta = {"type": kind, field: piece}
                yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
            yield "content_block_stop", {"type": "content_block_stop", "index": index}
        end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield "message_delta", {"type": "message_delta", "delta": end, "usage": message["usage"]}
        yield "message_stop", {"type": "message_stop"}

    def error(self, status: int, message: str) -> Json:
        kinds = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
        return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": message}}


class Chat:
    """OpenAI Chat Completions. As there, a stream tells its usage only when asked to."""

    def asked(self, path: str, body: Json) -> Asked:
        functions = [each["function"] for each in body.get("tools") or () if "function" in each]
        schema = ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")
        self.tells = bool((body.get("stream_options") or {}).get("include_usage"))
        return Asked(
            model=body["model"],
            stream=bool(body.get("stream")),
            tools={each["name"]: each.get("parameters") or {} for each in functions},
            results=[each.get("tool_call_id", "") for each in body["messages"] if each["role"] == "tool"],
            schema=schema,
        )

    def _usage(self, told: Told) -> Json:
        read, cached, said = told.tokens
        parts = {"prompt_tokens": read, "completion_tokens": said, "total_tokens": read + said}
        return parts | {"prompt_tokens_details": {"cached_tokens": cached}}

    def _call(self, told: Told, arguments: str) -> Json:
        return {"id": f"call_{told.id}", "type": "function", "function": {"name": told.tool, "arguments": arguments}}

    def whole(self, asked: Asked, told: Told) -> Json:
        message: Json = {"role": "assistant", "content": told.text or None}
        if told.tool:
            message["tool_calls"] = [self._call(told, json.dumps(told.arguments))]
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if told.tool else "stop"}
        head = {"id": f"chatcmpl-{told.id}", "object": "chat.completion", "created": 1, "model": asked.model}
        return {**head, "choices": [choice], "usage": self._usage(told)}

    def events(self, asked: Asked, told: Told) -> Iterator[Event]:
        head = {"id": f"chatcmpl-{told.id}", "object": "chat.completion.chunk", "created": 1, "model": asked.model}

        def chunk(delta: Json, reason: str | None = None) -> Event:
            return "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

        yield chunk({"role": "assistant", "content": ""})
        for piece in cut(told.text):
            yield chunk({"content": piece})
        if told.tool:
            yield chunk({"tool_calls": [{"index": 0, **self._call(told, "")}]})
            for piece in cut(json.dumps(told.arguments)):
                yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        yield chunk({}, "tool_calls" if told.tool else "stop")
        if self.tells:
            yield "", {**head, "choices": [], "usage": self._usage(told)}

    def error(self, status: int, message: str) -> Json:
        return {"error": {"message": message, "type": "server_error" if status >= 500 else "invalid_request_error"}}


class Responses(Chat):
    """OpenAI Responses. Newer Codex models declare their tools in an input item and run the shell by a program."""

    def asked(self, path: str, body: Json) -> Asked:
        items = body["input"] if isinstance(body["input"], list) else []
        listed = [*(body.get("tools") or ())]
        listed += [tool for each in items if each.get("type") == "additional_tools" for tool in each["tools"]]
        return Asked(
            model=body["model"],
            stream=bool(body.get("stream")),
            tools=dict(self._tools(listed)),
            results=[each["call_id"] for each in items if str(each.get("type", "")).endswith("_call_output")],
            schema=((body.get("text") or {}).get("format") or {}).get("schema"),
        )

    def _tools(self, listed: list[Json]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for each in listed:
            if each.get("type") == "namespace":
                yield from self._tools(each["tools"])
            elif each.get("type") in ("function", "custom"):
                yield each["name"], each.get("parameters") or {}

    def whole(self, asked: Asked, told: Told) -> Json:
        output: list[Json] = []
        if told.text:
            part = {"type": "output_text", "text": told.text, "annotations": []}
            output.append({"type": "message", "id": f"msg_{told.id}", "role": "assistant", "content": [part]})
        if told.tool:
            call: Json = {"id": f"fc_{told.id}", "call_id": f"call_{told.id}", "name": told.tool}
            free = isinstance(told.arguments, str)
            call |= {"type": "custom_tool_call", "input": told.arguments} if free else {"type": "function_call"}
            output.append(call if free else call | {"arguments": json.dumps(told.arguments)})
        read, cached, said = told.tokens
        usage: Json = {"input_tokens": read, "output_tokens": said, "total_tokens": read + said}
        usage |= {"input_tokens_details": {"cached_tokens": cached}, "output_tokens_details": {"reasoning_tokens": 0}}
        return {
            "id": f"resp_{told.id}",
            "object": "response",
            "created_at": 1,
            "model": asked.model,
            "error": None,
            "status": "completed",
            "output": [{**each, "status": "completed"} for each in output],
            "usage": usage,
        }

    def events(self, asked: Asked, told: Told) -> Iterator[Event]:
        for number, (name, data) in enumerate(self._stages(self.whole(asked, told))):
            yield f"response.{name}", {"type": f"response.{name}", "sequence_number": number, **data}

    def _stages(self, done: Json) -> Iterator[Event]:
        yield "created", {"response": {**done, "status": "in_progress", "output": [], "usage": None}}
        for index, item in enumerate(done["output"]):
            yield "output_item.added", {"output_index": index, "item": {**item, **_emptied(item)}}
            if item["type"] == "message":
                text = item["content"][0]["text"]
                where = {"output_index": index, "item_id": item["id"], "content_index": 0}
                yield "content_part.added", {**where, "part": {**item["content"][0], "text": ""}}
                for piece in cut(text):
                    yield "output_text.delta", {**where, "delta": piece}
                yield "output_text.done", {**where, "text": text}
                yield "content_part.done", {**where, "part": item["content"][0]}
            yield "output_item.done", {"output_index": index, "item": item}
        yield "completed", {"response": done}


def _emptied(item: Json) -> Json:
    field = {"message": "content", "function_call": "arguments", "custom_tool_call": "input"}[item["type"]]
    return {"status": "in_progress", field: type(item[field])()}


class Gemini:
    """Gemini's generateContent and streamGenerateContent."""

    def asked(self, path: str, body: Json) -> Asked:
        model, _, verb = path.rpartition("/models/")[2].partition(":")
        parts = [part for each in body["contents"] for part in each.get("parts") or ()]
        declared = [one for each in body.get("tools") or () for one in each.get("functionDeclarations") or ()]
        config = body.get("generationConfig") or {}
        return Asked(
            model=model,
            stream=verb.startswith("stream"),
            tools={each["name"]: each.get("parametersJsonSchema") or each.get("parameters") or {} for each in declared},
            results=[part["functionResponse"].get("id") or "" for part in parts if part.get("functionResponse")],
            schema=config.get("responseJsonSchema") or config.get("responseSchema"),
        )

    def _chunk(self, asked: Asked, told: Told, parts: list[Json], last: bool) -> Json:
        read, cached, said = told.tokens
        usage = {"promptTokenCount": read, "cachedContentTokenCount": cached, "candidatesTokenCount": said}
        candidate: Json = {"index": 0, "content": {"role": "model", "parts": parts}}
        candidate |= {"finishReason": "STOP"} if last else {}
        head = {"modelVersion": asked.model, "responseId": told.id}
        return {**head, "candidates": [candidate], "usageMetadata": {**usage, "totalTokenCount": read + said}}

    def _call(self, told: Told) -> list[Json]:
        call = {"id": f"call_{told.id}", "name": told.tool, "args": told.arguments}
        return [{"functionCall": call}] if told.tool else []

    def whole(self, asked: Asked, told: Told) -> Json:
        return self._chunk(asked, told, [*([{"text": told.text}] if told.text else []), *self._call(told)], last=True)

    def events(self, asked: Asked, told: Told) -> Iterator[Event]:
        for piece in cut(told.text):
            yield "", self._chunk(asked, told, [{"text": piece}], last=False)
        yield "", self._chunk(asked, told, self._call(told) or [{"text": ""}], last=True)

    def error(self, status: int, message: str) -> Json:
        kinds = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
        return {"error": {"code": status, "message": message, "status": kinds.get(status, "UNKNOWN")}}
