"""What the intake accepts at most."""

from dataclasses import dataclass

MIB, GIB = 1 << 20, 1 << 30


@dataclass(frozen=True)
class IntakeLimits:
    """Sizes in bytes. The defaults fit models up to about 30B parameters in bfloat16."""

    total_bytes: int = 64 * GIB
    json_bytes: int = 8 * MIB
    """Of config.json and its like; a shard index of 100,000 tensors fits."""
    tokenizer_bytes: int = 40 * MIB
    header_bytes: int = 16 * MIB
    """Of one safetensors file's header."""
    entries: int = 10_000
    """Files and folders below the submitted folder."""
    free_factor: float = 1.2
    """Free space wanted in the store, as a multiple of the checkpoint's size."""
    near_base: float = 1e-4
    """Relative L2 distance below which a checkpoint counts as the base plus noise."""
    transformers_major: int = 5
    """Major version of the transformers library that loads the checkpoint; 4 and 5 read configs differently."""
    chat_template_required: bool = False
    """Whether the grader would use the submitted chat template. Ordinarily it applies the base's."""
