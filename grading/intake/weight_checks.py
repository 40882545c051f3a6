"""The tensors' names, shapes and dtypes against the base's: from the headers alone, in a few milliseconds."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from grading.contract import Finding
from grading.intake.codes import finding, names, plain, shown
from grading.intake.headers import Tensor
from grading.intake.heads import Heads
from grading.intake.scan import FLOAT_DTYPES

Tensors = Mapping[str, Tensor]

# Buffers that older libraries saved and newer ones compute.
_BUFFERS = re.compile(r".*(rotary_emb\.inv_freq|attn\.bias|attn\.masked_bias|position_ids)")
_QUANTISED_NAME = re.compile(
    r".*\.(absmax|quant_map|quant_state\..*|qweight|qzeros|scales|g_idx|SCB|weight_scale|weight_scale_inv)"
)
_ADAPTER_NAME = re.compile(r"(\.base_layer\.|\.lora_[AB]\.|\.lora_embedding_[AB])")

_LOOKED_AT = 1000


def quantised_check(tensors: Tensors, base: Tensors) -> Iterator[Finding]:
    """E_QUANT for packed or 8-bit tensors where the base has floats."""
    for name, tensor in tensors.items():
        expected = base.get(name)
        packed = expected is not None and expected.dtype in FLOAT_DTYPES and tensor.dtype not in FLOAT_DTYPES
        if packed or (_QUANTISED_NAME.fullmatch(name) and name not in base):
            yield finding(
                "E_QUANT",
                f"the weights are quantised: tensor {name} is {tensor.dtype}",
                file=tensor.file,
                tensor=name,
                expected=expected.dtype if expected else None,
                found=tensor.dtype,
            )
            return


def keys_check(tensors: Tensors, base: Tensors, heads: Heads) -> Iterator[Finding]:
    """E_KEYS for names that the base lacks or has beyond these; the output head is `tie_check`'s."""
    missing = sorted(base.keys() - tensors.keys() - {heads.head})
    unexpected = sorted(name for name in tensors.keys() - base.keys() - {heads.head} if not _BUFFERS.fullmatch(name))
    if not missing and not unexpected:
        return
    code, prefix = "E_KEYS", None
    if any(_ADAPTER_NAME.search(name) for name in unexpected):
        code = "E_KEYS:adapter"
    elif missing and unexpected:
        if prefix := _common_prefix(unexpected, missing):
            code = "E_KEYS:prefix"
        elif prefix := _common_prefix(missing, unexpected):
            code = "E_KEYS:add"
    told = [f"{len(missing)} missing ({names(missing)})"] if missing else []
    told += [f"{len(unexpected)} unexpected ({names(unexpected)})"] if unexpected else []
    hint = {"E_KEYS:prefix": f": strip prefix '{prefix}'", "E_KEYS:add": f": add prefix '{prefix}'"}.get(code, "")
    yield finding(
        code,
        f"tensor names differ from the base's: {', '.join(told)}{hint}",
        tensor=(missing or unexpected)[0],
        expected=missing[:3],
        found=unexpected[:3],
        missing=len(missing),
        unexpected=len(unexpected),
        prefix=prefix,
    )


def shapes_check(tensors: Tensors, base: Tensors, heads: Heads) -> Iterator[Finding]:
    """E_SHAPE for tensors of other shapes; a changed number of vocabulary rows is `vocab_check`'s."""
    wrong = [
        name
        for name in sorted(tensors.keys() & base.keys())
        if tensors[name].shape != base[name].shape
        and not (name in (heads.head, heads.embedding) and _only_rows(tensors[name], base[name]))
    ]
    if not wrong:
        return
    rows = [f"{name} is stored as {list(tensors[name].shape)}, expected {list(base[name].shape)}" for name in wrong[:3]]
    more = f"; {len(wrong) - 3} more" if len(wrong) > 3 else ""
    empty = any(0 in tensors[name].shape for name in wrong)
    first = wrong[0]
    yield finding(
        "E_SHAPE:gather" if empty else "E_SHAPE",
        "; ".join(rows) + more,
        file=tensors[first].file,
        tensor=first,
        expected=base[first].shape,
        found=tensors[first].shape,
        count=len(wrong),
    )


def dtype_check(tensors: Tensors, base: Tensors) -> Iterator[Finding]:
    """W_DTYPE when floats are stored otherwise than in the base."""
    shared = tensors.keys() & base.keys()
    differing = [
        name for name in shared if tensors[name].dtype != base[name].dtype and tensors[name].dtype in FLOAT_DTYPES
    ]
    if not differing:
        return
    found = Counter(tensors[name].dtype for name in differing).most_common(1)[0][0]
    expected = Counter(base[name].dtype for name in differing).most_common(1)[0][0]
    yield finding(
        "W_DTYPE",
        f"{len(differing)} of {len(shared)} tensors are {found}, the base is {expected}; "
        "the checkpoint is graded in the base's dtype",
        tensor=min(differing),
        expected=expected,
        found=found,
        count=len(differing),
    )


def vocab_check(config: Mapping[str, Any], tensors: Tensors, heads: Heads, highest_id: int | None) -> Iterator[Finding]:
    """E_VOCAB when config, embedding rows and tokenizer do not fit together."""
    embedding = tensors.get(heads.embedding or "")
    if embedding is None or not embedding.shape or 0 in embedding.shape:
        return
    says, rows = config.get("vocab_size"), embedding.shape[0]
    head = tensors.get(heads.head)
    head_rows = head.shape[0] if head is not None and head.shape else rows
    too_high = highest_id is not None and highest_id >= rows
    if says == rows == head_rows and not too_high:
        return
    what = f"vocab_size is {shown(says)}, the embedding has {rows} rows"
    what += f", {heads.head} has {head_rows}" if head_rows != rows else ""
    what += f", the tokenizer's highest id is {highest_id}" if highest_id is not None else ""
    yield finding(
        "E_VOCAB",
        what + (": a token beyond the embedding stops the engine" if too_high else ""),
        tensor=heads.embedding,
        config_vocab_size=plain(says),
        embedding_rows=rows,
        head_rows=head_rows,
        highest_token_id=highest_id,
    )


def _only_rows(tensor: Tensor, base: Tensor) -> bool:
    """Whether the two differ in their number of rows alone, and both have some."""
    return tensor.shape[1:] == base.shape[1:] and len(tensor.shape) > 1 and 0 not in tensor.shape


def _common_prefix(longer: list[str], shorter: list[str]) -> str | None:
    """What most of the longer names have in front of one of the shorter ones."""
    known = set(shorter)
    prefixes: Counter[str] = Counter()
    for name in longer[:_LOOKED_AT]:
        for at, character in enumerate(name):
            if character == "." and name[at + 1 :] in known:
                prefixes[name[: at + 1]] += 1
                break
    if not prefixes:
        return None
    prefix, count = prefixes.most_common(1)[0]
    return prefix if 2 * count > min(len(longer), _LOOKED_AT) else None
