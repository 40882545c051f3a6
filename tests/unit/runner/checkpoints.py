"""Random checkpoints of a few thousand parameters, with a character tokenizer and a chat template."""

import string
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIALS = ["<pad>", "<bos>", "<eos>", "<|im_start|>", "<|im_end|>"]
LETTERS = list(string.ascii_letters + string.digits + " \n+-*=?.,:;!'#<>|_/")
SIZES: dict[str, Any] = {
    "vocab_size": len(SPECIALS) + len(LETTERS),
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    # Wide enough that the likeliest token is never a matter of rounding.
    "initializer_range": 0.3,
}


def character_tokenizer(*, template: str | None = TEMPLATE) -> Any:
    vocabulary = {token: index for index, token in enumerate(SPECIALS + LETTERS)}
    core = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    core.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="?",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
    )
    tokenizer.chat_template = template
    return tokenizer


def llama(seed: int = 0, **changes: Any) -> Any:
    torch.manual_seed(seed)
    model: Any = LlamaForCausalLM
    return model(LlamaConfig(**{**SIZES, **changes})).eval()


def qwen2(seed: int = 0, **changes: Any) -> Any:
    torch.manual_seed(seed)
    model: Any = Qwen2ForCausalLM
    return model(Qwen2Config(**{**SIZES, **changes})).eval()


def gemma2(seed: int = 0, **changes: Any) -> Any:
    """Soft-capped scores and sliding windows: what slots do not offer."""
    torch.manual_seed(seed)
    sizes = {**SIZES, "head_dim": 16, "sliding_window": 16, "query_pre_attn_scalar": 16}
    model: Any = Gemma2ForCausalLM
    return model(Gemma2Config(**{**sizes, **changes})).eval()


def save(folder: Path, model: Any, tokenizer: Any = None) -> Path:
    model.save_pretrained(folder)
    (tokenizer or character_tokenizer()).save_pretrained(folder)
    return folder
