"""From a task's prompt to token ids: the grader's text, the submission's tokenizer, the context limit."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from benchmark.tasks.contract import Prompt, Turn
from grading.runner.engines.protocol import Request
from grading.runner.faults import ArtifactFault, InfraFault
from grading.runner.templates import ChatRenderer

DEFAULT_CONTEXT = 8192


@dataclass(frozen=True)
class ContextLimit:
    """Most tokens of one prompt and its completion, and whether the checkpoint's own config sets it."""

    tokens: int
    of_checkpoint: bool

    @classmethod
    def choose(cls, asked: int | None, positions: int | None) -> "ContextLimit":
        """The smaller of what the spec asks (8192 where it asks nothing) and what the checkpoint has."""
        wanted = asked or DEFAULT_CONTEXT
        if positions is not None and positions < wanted:
            return cls(positions, of_checkpoint=True)
        return cls(wanted, of_checkpoint=False)


class Encoder(Protocol):
    """From a task's prompt to an engine's request."""

    def encode(self, prompt: Prompt, *, first: bool) -> tuple[str, Request | None]:
        """The text that the record's hash is made of, and the request; None where no room is left.

        Raises: GradingFault.
        """
        ...


class MessageEncoder:
    """For a model that is asked by chat messages alone: a raw text becomes one user message."""

    def encode(self, prompt: Prompt, *, first: bool) -> tuple[str, Request | None]:
        """The messages as JSON, and the request. The endpoint itself knows its context."""
        messages = prompt.messages or (Turn("user", prompt.text),)
        text = json.dumps([[turn.role, turn.content] for turn in messages])
        return text, Request((), prompt.max_tokens, prompt.stop, messages)


class PromptEncoder:
    """Renders and encodes prompts for one checkpoint whose embedding has `rows` rows."""

    def __init__(self, renderer: ChatRenderer, tokenizer: Any, limit: ContextLimit, rows: int) -> None:
        self._renderer = renderer
        self._tokenizer = tokenizer
        self._limit = limit
        self._rows = rows

    def encode(self, prompt: Prompt, *, first: bool) -> tuple[str, Request | None]:
        """The rendered text and the request.

        The first prompt of an episode must fit together with its completion. A later one gets the room that is left;
        the request is None where none is.

        Raises: ArtifactFault: E_CONTEXT, E_VOCAB, E_TOKENIZER. InfraFault: I_CONTEXT, I_TEMPLATE.
        """
        text = self._renderer.text(prompt.messages) if prompt.messages else prompt.text
        templated = bool(prompt.messages) and self._renderer.has_template
        tokens = self._templated(text) if templated else self._plain(text)
        self._check(tokens, text)
        room = self._limit.tokens - len(tokens)
        if first and room < prompt.max_tokens:
            raise self._too_long(len(tokens), prompt.max_tokens)
        if room < 1:
            return text, None
        stop = prompt.stop + (self._renderer.extra_stop if prompt.messages else ())
        return text, Request(tokens, min(prompt.max_tokens, room), stop)

    def _templated(self, text: str) -> tuple[int, ...]:
        # The template has written the special tokens, the first one included.
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))

    def _plain(self, text: str) -> tuple[int, ...]:
        """With the tokenizer's own beginning, written once, and without an end."""
        bare = tuple(self._tokenizer.encode(text, add_special_tokens=False))
        return (*self._beginning, *bare) if bare[:1] != self._beginning else bare

    @cached_property
    def _beginning(self) -> tuple[int, ...]:
        """What the tokenizer writes before any text: its beginning of a sequence, or nothing."""
        bos = self._tokenizer.bos_token_id
        begins = bos is not None and self._tokenizer.encode("a", add_special_tokens=True)[:1] == [bos]
        return (bos,) if begins else ()

    def _check(self, tokens: tuple[int, ...], text: str) -> None:
        if text and not tokens:
            raise ArtifactFault(
                "E_TOKENIZER",
                "the tokenizer encodes text to nothing",
                fix="Save the base model's tokenizer with the checkpoint: tokenizer.save_pretrained(folder).",
            )
        if (highest := max(tokens, default=0)) >= self._rows:
            raise vocabulary_fault(highest, self._rows)

    def _too_long(self, tokens: int, max_tokens: int) -> ArtifactFault | InfraFault:
        need = f"the task needs {tokens} + {max_tokens} tokens of context"
        detail = {"expected": tokens + max_tokens, "found": self._limit.tokens}
        if self._limit.of_checkpoint:
            return ArtifactFault(
                "E_CONTEXT",
                f"{need}; the checkpoint's config has {self._limit.tokens}",
                fix="Keep the base model's max_position_embeddings in config.json.",
                detail=detail,
            )
        return InfraFault("I_CONTEXT", f"{need}; max_model_len is {self._limit.tokens}", detail=detail)


def vocabulary_fault(highest: int, rows: int) -> ArtifactFault:
    """The tokenizer knows ids that the embedding has no row for."""
    return ArtifactFault(
        "E_VOCAB",
        f"the tokenizer's highest id is {highest}; the embedding has {rows} rows",
        fix="After adding tokens, resize the embeddings and save weights, config and tokenizer together.",
        detail={"expected": rows, "found": highest},
    )
