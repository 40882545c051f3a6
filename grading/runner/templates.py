"""Chat prompts as text, always through the reference (base) model's template: a submission cannot bring its own."""

import hashlib
from collections.abc import Sequence
from typing import Any

from benchmark.tasks.contract import Turn
from grading.runner.faults import InfraFault, first_line

FIXED_DATE = "26 Jul 2024"
"""Llama 3's templates print today's date unless given one; a score must not depend on the day."""
LABELS = {"system": "System", "user": "User", "assistant": "Assistant"}
SENTINEL = "agent2 end of turn"


class ChatRenderer:
    """Renders turns with the reference tokenizer's chat template, or as plain text where it has none.

    Plain text (`plain/1`): each turn is `System: `, `User: ` or `Assistant: ` and its content, turns are separated by
    an empty line, and `Assistant:` stands at the end. A completion then ends at the next `User:` line.
    """

    def __init__(self, reference: Any) -> None:
        self._tokenizer = reference
        template = getattr(reference, "chat_template", None)
        self.has_template = bool(template)
        self.template = "reference" if self.has_template else "plain/1"
        self.sha256 = hashlib.sha256(str(template).encode()).hexdigest() if self.has_template else ""
        self.extra_stop: tuple[str, ...] = () if self.has_template else ("\nUser:",)

    def text(self, turns: Sequence[Turn]) -> str:
        """The prompt up to where the assistant speaks. Raises: InfraFault: I_TEMPLATE, the template does not render."""
        if not self.has_template:
            return "\n\n".join([f"{LABELS[t.role]}: {t.content}" for t in turns] + ["Assistant:"])
        try:
            return self._render(turns)
        except Exception as error:
            if turns[0].role != "system" or len(turns) == 1:
                raise InfraFault("I_TEMPLATE", f"the base model's chat template: {first_line(error)}") from error
        # Some templates, such as Gemma's, know no system role: its text then opens the first user turn.
        merged = Turn("user", f"{turns[0].content}\n\n{turns[1].content}")
        return self.text((merged, *turns[2:]))

    def _render(self, turns: Sequence[Turn], add_generation_prompt: bool = True) -> str:
        messages = [{"role": t.role, "content": t.content} for t in turns]
        return str(
            self._tokenizer.apply_chat_template(
                messages, tokenize=False, add_generation_prompt=add_generation_prompt, date_string=FIXED_DATE
            )
        )

    def special_tokens(self) -> tuple[str, ...]:
        """The reference tokenizer's special tokens that the template writes."""
        if not self.has_template:
            return ()
        text = self._sample()
        return tuple(token for token in _special(self._tokenizer) if token in text)

    def end_of_turn(self) -> str | None:
        """The special token right after an assistant's content, where the template writes one."""
        if not self.has_template:
            return None
        after = self._sample().partition(SENTINEL)[2].lstrip()
        return next((token for token in _special(self._tokenizer) if after.startswith(token)), None)

    def _sample(self) -> str:
        try:
            return self._render((Turn("user", "question"), Turn("assistant", SENTINEL)), add_generation_prompt=False)
        except Exception as error:
            raise InfraFault("I_TEMPLATE", f"the base model's chat template: {first_line(error)}") from error


def _special(tokenizer: Any) -> list[str]:
    added = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
    return sorted({*added, *tokenizer.all_special_tokens}, key=len, reverse=True)
