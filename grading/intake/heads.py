"""Which tensors are the input embedding and the output head, and whether the two are one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from grading.contract import Finding
from grading.intake.codes import finding
from grading.intake.headers import Tensor

_EMBEDDINGS = (
    "embed_tokens.weight",
    "wte.weight",
    "embed_in.weight",
    "word_embeddings.weight",
    "tok_embeddings.weight",
)
_HEADS = ("lm_head.weight", "embed_out.weight", "output.weight")


@dataclass(frozen=True)
class Heads:
    """The base's names for the two."""

    embedding: str | None
    head: str

    @classmethod
    def of(cls, base: Mapping[str, Tensor]) -> "Heads":
        embedding = next((name for end in _EMBEDDINGS for name in base if name.endswith(end)), None)
        return cls(embedding, next((name for name in _HEADS if name in base), _HEADS[0]))


def is_tied(config: Mapping[str, Any], base_config: Mapping[str, Any], base: Mapping[str, Tensor]) -> bool:
    """Whether the head is the embedding: what the config says, else the base's, else whether the base has a head."""
    for each in (config, base_config):
        says = each.get("tie_word_embeddings")
        if isinstance(says, bool):
            return says
    return Heads.of(base).head not in base


def tie_check(
    tensors: Mapping[str, Tensor],
    base: Mapping[str, Tensor],
    heads: Heads,
    *,
    tied: bool,
    base_tied: bool,
    same_bytes: bool | None,
) -> Iterator[Finding]:
    """E_TIE. `same_bytes`: whether stored head and embedding are identical; None when one of them is absent."""
    stored = heads.head in tensors
    if tied and stored and same_bytes is False:
        yield finding(
            "E_TIE",
            f"tie_word_embeddings=true but {heads.head} differs from {heads.embedding}: "
            "loading would overwrite the head; set it to false",
            file=tensors[heads.head].file,
            tensor=heads.head,
        )
    elif not tied and not stored:
        yield finding(
            "E_TIE:absent",
            f"tie_word_embeddings=false but {heads.head} is absent: the head would be random",
            tensor=heads.head,
            expected=list(base[heads.head].shape) if heads.head in base else None,
        )
    elif tied and not stored and not base_tied:
        yield finding(
            "E_TIE:untied_base",
            f"tie_word_embeddings=true and no {heads.head}, but the base has a head of its own",
            tensor=heads.head,
        )
