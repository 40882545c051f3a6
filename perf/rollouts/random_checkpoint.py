"""A random checkpoint for measuring, with a tokenizer that knows the tasks' words: prompts get a usual length.

`python -m perf.rollouts.random_checkpoint FOLDER TOKENIZER [DEVICE]` writes one of seven billion parameters with the
tokenizer of the folder TOKENIZER.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

VOCABULARY = 2048
CONTEXT = 8192


def random_checkpoint(folder: Path, texts: Iterable[str]) -> Path:
    """A four-layer Llama of width 256 with random weights, and a byte-level BPE tokenizer trained on `texts`."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    special = ["<pad>", "<bos>", "<eos>"]
    letters = pre_tokenizers.ByteLevel.alphabet()
    core.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=special, initial_alphabet=letters)
    )
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=core, pad_token="<pad>", bos_token="<bos>", eos_token="<eos>"
    )
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}"
        "{% if add_generation_prompt %}assistant: {% endif %}"
    )
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        # Wide enough that the likeliest token is never a matter of rounding.
        initializer_range=0.3,
    )
    model = LlamaForCausalLM(config)  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def large_checkpoint(folder: Path, tokenizer: Path, device: str = "cuda") -> Path:
    """Random weights in the shape of Qwen2.5-7B in bfloat16, 15 GB, made on `device`; another model's tokenizer."""
    import torch
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    known = AutoTokenizer.from_pretrained(tokenizer)
    config = Qwen2Config(
        vocab_size=152064,
        hidden_size=3584,
        intermediate_size=18944,
        num_hidden_layers=28,
        num_attention_heads=28,
        num_key_value_heads=4,
        max_position_embeddings=32768,
        tie_word_embeddings=False,
        bos_token_id=known.bos_token_id,
        eos_token_id=known.eos_token_id,
        pad_token_id=known.pad_token_id,
        dtype="bfloat16",
    )
    torch.manual_seed(0)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = Qwen2ForCausalLM(config)  # type: ignore[no-untyped-call]
    model.save_pretrained(folder)
    known.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    large_checkpoint(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
