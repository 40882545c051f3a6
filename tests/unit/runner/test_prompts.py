"""Rendering and encoding: the base model's template, one beginning token, the context and vocabulary limits."""

from typing import Any

import pytest

from benchmark.tasks.contract import Prompt, Turn
from grading.runner.faults import ArtifactFault, InfraFault
from grading.runner.prompts import DEFAULT_CONTEXT, ContextLimit, PromptEncoder
from grading.runner.templates import ChatRenderer
from tests.unit.runner.checkpoints import SIZES, character_tokenizer

BOS, START = 1, 3
CHAT = Prompt(max_tokens=4, messages=(Turn("user", "hi"),), stop=("x",))


def encoder(
    template: str | None = "<bos>{{ messages[0]['content'] }}", limit: ContextLimit | None = None, **options: Any
) -> PromptEncoder:
    reference = character_tokenizer(template=template) if template is not None else character_tokenizer(template=None)
    tokenizer = options.get("tokenizer") or character_tokenizer(template="{{ 'hidden answers' }}")
    return PromptEncoder(
        ChatRenderer(reference),
        tokenizer,
        limit or ContextLimit(100, of_checkpoint=True),
        options.get("rows", SIZES["vocab_size"]),
    )


def adding_bos() -> Any:
    from tokenizers.processors import TemplateProcessing

    tokenizer = character_tokenizer()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", 1), ("<eos>", 2)]
    )
    return tokenizer


def test_the_reference_template_is_used_and_writes_the_beginning_once() -> None:
    text, request = encoder(tokenizer=adding_bos()).encode(CHAT, first=True)
    assert text == "<bos>hi"
    assert request is not None
    assert request.tokens[0] == BOS
    assert request.tokens.count(BOS) == 1
    assert request.stop == ("x",)


@pytest.mark.parametrize("text", ["hi", "<bos>hi"])
def test_raw_text_gets_the_tokenizers_beginning_once_and_no_end(text: str) -> None:
    _, request = encoder(tokenizer=adding_bos()).encode(Prompt(max_tokens=4, text=text), first=True)
    assert request is not None
    assert (request.tokens[0], len(request.tokens)) == (BOS, 3)


def test_raw_text_stays_bare_where_the_tokenizer_adds_nothing() -> None:
    _, request = encoder().encode(Prompt(max_tokens=4, text="hi"), first=True)
    assert request is not None
    assert len(request.tokens) == 2


def test_plain_rendering_where_the_base_has_no_template() -> None:
    plain = encoder(None)
    turns = (Turn("system", "S"), Turn("user", "U"), Turn("assistant", "A"), Turn("user", "V"))
    text, request = plain.encode(Prompt(max_tokens=4, messages=turns), first=True)
    assert text == "System: S\n\nUser: U\n\nAssistant: A\n\nUser: V\n\nAssistant:"
    assert request is not None
    assert request.stop == ("\nUser:",)
    assert plain.encode(Prompt(max_tokens=4, text="t"), first=True)[1].stop == ()  # type: ignore[union-attr]


def test_a_template_without_a_system_role_gets_it_in_the_first_user_turn() -> None:
    template = (
        "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}"
        "[{{ m['content'] }}]{% endfor %}"
    )
    text, _ = encoder(template).encode(Prompt(4, (Turn("system", "S"), Turn("user", "U"))), first=True)
    assert text == "[S\n\nU]"


def test_a_template_that_does_not_render_is_our_fault() -> None:
    with pytest.raises(InfraFault, match="I_TEMPLATE"):
        encoder("{{ raise_exception('no') }}").encode(CHAT, first=True)


def test_the_first_prompt_must_fit_and_a_later_one_gets_the_room_left() -> None:
    prompt = Prompt(max_tokens=4, text="abcdefgh")
    own, ours = (encoder(limit=ContextLimit(10, of_checkpoint=o)) for o in (True, False))
    with pytest.raises(ArtifactFault, match="E_CONTEXT"):
        own.encode(prompt, first=True)
    with pytest.raises(InfraFault, match="I_CONTEXT"):
        ours.encode(prompt, first=True)
    assert own.encode(prompt, first=False)[1].max_tokens == 2  # type: ignore[union-attr]
    assert own.encode(Prompt(max_tokens=4, text="a" * 10), first=False)[1] is None


def test_ids_beyond_the_embedding() -> None:
    with pytest.raises(ArtifactFault, match="E_VOCAB"):
        encoder(rows=6).encode(Prompt(max_tokens=1, text="zzz"), first=True)


def test_a_tokenizer_that_encodes_to_nothing() -> None:
    class Empty:
        bos_token_id = None

        def encode(self, text: str, add_special_tokens: bool) -> list[int]:
            return []

    with pytest.raises(ArtifactFault, match="E_TOKENIZER"):
        encoder(tokenizer=Empty()).encode(CHAT, first=True)


def test_context_limit() -> None:
    assert ContextLimit.choose(None, 32768) == ContextLimit(DEFAULT_CONTEXT, of_checkpoint=False)
    assert ContextLimit.choose(None, 2048) == ContextLimit(2048, of_checkpoint=True)
    assert ContextLimit.choose(1024, 2048) == ContextLimit(1024, of_checkpoint=False)
    assert ContextLimit.choose(1024, None) == ContextLimit(1024, of_checkpoint=False)


def test_what_the_template_writes() -> None:
    renderer = ChatRenderer(character_tokenizer())
    assert set(renderer.special_tokens()) == {"<|im_start|>", "<|im_end|>"}
    assert renderer.end_of_turn() == "<|im_end|>"
    assert len(renderer.sha256) == 64
    plain = ChatRenderer(character_tokenizer(template=None))
    assert (plain.special_tokens(), plain.end_of_turn(), plain.sha256) == ((), None, "")
