"""Every code the intake answers with, most important first, and how the agent mends it."""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from grading.contract import Finding

MAX_SHOWN = 160
"""Characters of a name or value that an agent chose, as far as a message repeats it."""

FIXES: Final[Mapping[str, str]] = {
    "I_DISK": "Nothing to mend in the checkpoint: the grader needs more disk and tries again.",
    "I_IO": "Nothing to mend in the checkpoint: the grader tries again.",
    "E_PATH": "Submit the path of the folder that holds config.json and the weights, inside your workspace.",
    "E_SYMLINK": "Copy the real file into the checkpoint folder: cp -L source target.",
    "E_SPECIAL_FILE": "Remove it: a checkpoint folder holds regular files only.",
    "E_FILE_NAME": "Rename the file: letters, digits, '.', '_' and '-' only.",
    "E_TOO_LARGE": "Submit only the checkpoint folder, saved in bfloat16, without logs, data or trainer state.",
    "E_CHANGED": "Wait until saving has finished, then submit again.",
    "E_ADAPTER_ONLY": "Run merge_and_unload() and save the merged model and the tokenizer to a new folder.",
    "E_NO_CONFIG": "Save the model with model.save_pretrained(folder) and submit that folder.",
    "E_PICKLE": "Only safetensors are accepted: save again with model.save_pretrained(folder).",
    "E_NO_WEIGHTS": "Save the model with model.save_pretrained(folder): it writes model.safetensors.",
    "E_REMOTE_CODE": "Remove it: the grader runs no code that comes with a checkpoint, "
    "so weights must load with the base's own classes.",
    "E_CONFIG_JSON": "Save it again with model.save_pretrained(folder) and see that the disk is not full.",
    "E_ARCH": "Restore these fields from the base's config.json and submit weights of the base's own shape.",
    "E_QUANT": "Dequantise, merge in bfloat16 and save the full-precision model.",
    "E_LFS_POINTER": "Fetch the real file (git lfs pull) before you submit.",
    "E_TRUNCATED": "Save the file again: it was cut off or still being written.",
    "E_SAFETENSORS": "Save the weights again with model.save_pretrained(folder).",
    "E_SHARD_MISSING": "Save all shards together with their index into an empty folder.",
    "E_SHARD_AMBIGUOUS": "Save into an empty folder, so that every tensor is there exactly once and the index fits.",
    "E_KEYS": "Save the whole state dict under the base's tensor names.",
    "E_KEYS:prefix": "Strip prefix '{prefix}' from the tensor names: save the inner model, not its wrapper.",
    "E_KEYS:add": "Add prefix '{prefix}' to the tensor names: save the model with its head, not its inner part.",
    "E_KEYS:adapter": "Run merge_and_unload() before saving: adapter layers are still in the state dict.",
    "E_SHAPE": "Save tensors of the base's shapes.",
    "E_SHAPE:gather": "Gather the parameters before saving (ZeRO-3: stage3_gather_16bit_weights_on_model_save).",
    "E_TIE": "Set tie_word_embeddings to false in config.json, which keeps the lm_head you saved.",
    "E_TIE:absent": "Set tie_word_embeddings to true in config.json, or save lm_head.weight.",
    "E_TIE:untied_base": "Save lm_head.weight and keep the base's tie_word_embeddings=false.",
    "E_VOCAB": "Make the three agree: model.resize_token_embeddings(len(tokenizer)), then save model and tokenizer.",
    "E_ROPE": "Restore the base's rope settings in config.json.",
    "E_NONFINITE": "The training diverged or overflowed: submit an earlier checkpoint.",
    "E_TOKENIZER": "Run tokenizer.save_pretrained(folder) with the base's tokenizer.",
    "E_TOKENIZER:extra": "Make extra_special_tokens a dict, or remove it from tokenizer_config.json.",
    "E_TOKENIZER:class": "Set tokenizer_class to the base's '{expected}'.",
    "E_CHAT_TEMPLATE": "Save the tokenizer with its chat template: tokenizer.save_pretrained(folder).",
    "W_EQUALS_BASE": "See that you submit the trained weights, and that adapters were merged into them.",
    "W_DTYPE": "Save in the base's dtype: the checkpoint is graded in it anyway.",
    "W_ADAPTER_IGNORED": "If the adapter was to count, merge it with merge_and_unload() and save the merged model.",
    "W_TEMPLATE_IGNORED": "Train with the base's chat template: it is the one that the grader applies.",
}

RANK: Final[Mapping[str, int]] = {code: rank for rank, code in enumerate(FIXES)}


class Refused(Exception):
    """Stops the intake: the finding says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


def finding(code: str, message: str, **detail: Any) -> Finding:
    """A finding with its code's fix. `code` is a key of FIXES; what follows a colon picks the fix, not the code."""
    plain_detail = {key: plain(value) for key, value in detail.items() if value is not None}
    fix = FIXES[code]
    if "{" in fix:
        fix = fix.format(**plain_detail)
    return Finding(code=code.partition(":")[0], message=message, fix=fix, detail=plain_detail)


def refused(code: str, message: str, **detail: Any) -> Refused:
    """The same as an exception."""
    return Refused(finding(code, message, **detail))


def by_importance(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings in the order of the table."""
    return tuple(sorted(findings, key=lambda each: RANK[each.code]))


def shown(value: object) -> str:
    """A hostile name or value as one short printable ASCII line."""
    text = value if isinstance(value, str) else _short_repr(value)
    text = text[: 2 * MAX_SHOWN].encode("unicode_escape", "backslashreplace").decode("ascii")
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "~"


def plain(value: Any, depth: int = 4) -> Any:
    """A JSON value of bounded size and depth with everything hostile escaped."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 63 else "a huge integer"
    if isinstance(value, Mapping) and depth:
        return {shown(key): plain(each, depth - 1) for key, each in list(value.items())[:50]}
    if isinstance(value, list | tuple) and depth:
        return [plain(each, depth - 1) for each in value[:50]]
    return shown(value)


def names(values: Iterable[str], most: int = 3) -> str:
    """`a, b, c and 4 more`."""
    every = list(values)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(shown(each) for each in every[:most]) + more


def _short_repr(value: object) -> str:
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return "a huge integer"
    return repr(value)
