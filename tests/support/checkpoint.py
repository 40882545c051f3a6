"""A random two-layer Llama checkpoint of about 60 kB, made once for a test session."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys, torch
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
torch.manual_seed(0)
letters = ["<pad>", "<bos>", "<eos>"] + list("0123456789+-*=? \\n") + list("abcdefghijklmnopqrstuvwxyz")
core = Tokenizer(models.WordLevel({c: i for i, c in enumerate(letters)}, unk_token="?"))
core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
core.decoder = decoders.Fuse()
special = dict(pad_token="<pad>", bos_token="<bos>", eos_token="<eos>", unk_token="?")
tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **special)
config = LlamaConfig(vocab_size=len(letters), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=int(sys.argv[2]),
    pad_token_id=0, bos_token_id=1, eos_token_id=2)
LlamaForCausalLM(config).save_pretrained(sys.argv[1]); tokenizer.save_pretrained(sys.argv[1])
"""


def small_checkpoint(folder: Path, *, positions: int = 128) -> Path:
    """Write it into `folder` and return that. A process of its own, so that no test process imports torch."""
    subprocess.run([sys.executable, "-c", SCRIPT, str(folder), str(positions)], check=True, capture_output=True)
    for path in folder.iterdir():
        path.chmod(0o644)  # safetensors writes 0600, which another user's sandbox cannot read
    return folder
