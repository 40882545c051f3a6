"""The tokenizer's files, read as JSON: present, whole, and with which ids."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grading.contract import Finding
from grading.intake.codes import Refused, finding, refused, shown
from grading.intake.config_checks import auto_map_check
from grading.intake.json_files import json_file
from grading.intake.limits import IntakeLimits

_MODEL_TYPES = ("BPE", "Unigram", "WordPiece", "WordLevel")


@dataclass(frozen=True)
class TokenizerFacts:
    """What the intake needs to know of a tokenizer. None and empty where a file is absent."""

    highest_id: int | None = None
    sha256: str = ""
    """Of tokenizer.json's meaning: key order and white space do not count."""
    settings: Mapping[str, Any] | None = None
    """tokenizer_config.json without its chat template."""
    template: str | None = None


def tokenizer_read(folder: Path, names: frozenset[str], template_file: str | None) -> TokenizerFacts:
    """Read the tokenizer of a folder; `template_file` is chat_template.jinja's text, which wins over the config's.

    Raises: Refused (E_TOKENIZER, E_LFS_POINTER); OSError.
    """
    settings: dict[str, Any] = {}
    if "tokenizer_config.json" in names:
        settings = json_file(folder / "tokenizer_config.json", code="E_TOKENIZER")
    template = template_file if template_file is not None else _template_text(settings.get("chat_template"))
    settings = {key: value for key, value in settings.items() if key != "chat_template"}
    for name in ("special_tokens_map.json", "added_tokens.json"):
        if name in names:
            json_file(folder / name, code="E_TOKENIZER")
    if "tokenizer.json" not in names:
        return TokenizerFacts(settings=settings, template=template)
    parsed = json_file(folder / "tokenizer.json", code="E_TOKENIZER")
    try:
        canonical = json.dumps(parsed, sort_keys=True)
    except RecursionError:
        raise _broken("is nested too deeply") from None
    return TokenizerFacts(
        highest_id=max(highest_token_id(parsed), _highest_declared(settings)),
        sha256=hashlib.sha256(canonical.encode()).hexdigest(),
        settings=settings,
        template=template,
    )


def tokenizer_check(facts: TokenizerFacts, base: TokenizerFacts, limits: IntakeLimits) -> Iterator[Finding]:
    """Everything wrong or odd with it, the vocabulary's size excepted."""
    if base.sha256 and not facts.sha256:
        yield finding(
            "E_TOKENIZER",
            "the folder has no tokenizer.json: the library would load an empty tokenizer without a word",
            file="tokenizer.json",
        )
    settings = facts.settings or {}
    yield from auto_map_check("tokenizer_config.json", settings)
    yield from _version_check(settings, base.settings or {}, limits.transformers_major)
    yield from _template_check(facts, base, limits)


def highest_token_id(parsed: Mapping[str, Any]) -> int:
    """The highest id of a parsed tokenizer.json, added tokens included; -1 when it has none.

    Raises: Refused (E_TOKENIZER) when it is not a tokenizer of a known kind.
    """
    model, added = parsed.get("model"), parsed.get("added_tokens") or []
    if not isinstance(model, Mapping) or not isinstance(added, list):
        raise _broken("has no model")
    vocab, kind = model.get("vocab"), model.get("type")
    if kind is not None and kind not in _MODEL_TYPES:
        raise _broken(f"has a model of the unknown type {shown(kind)}")
    if isinstance(vocab, Mapping):
        ids = list(vocab.values())
    elif isinstance(vocab, list):
        ids = list(range(len(vocab)))
    else:
        raise _broken("has no vocabulary")
    ids += [token.get("id") if isinstance(token, Mapping) else None for token in added]
    if not all(type(each) is int and 0 <= each < 1 << 32 for each in ids):
        raise _broken("has token ids that are not small positive integers")
    return max(ids, default=-1)


def _highest_declared(settings: Mapping[str, Any]) -> int:
    """The highest id that tokenizer_config.json adds to tokenizer.json's when both are loaded."""
    added = settings.get("added_tokens_decoder")
    ids = [int(key) for key in added if key.isdecimal() and len(key) < 10] if isinstance(added, Mapping) else []
    return max(ids, default=-1)


def _version_check(settings: Mapping[str, Any], base: Mapping[str, Any], major: int) -> Iterator[Finding]:
    """What one major version of the library writes and the other cannot read."""
    extra = settings.get("extra_special_tokens")
    readable: tuple[type, ...] = (dict, list) if major >= 5 else (dict,)
    if extra is not None and not isinstance(extra, readable):
        yield finding(
            "E_TOKENIZER:extra",
            f"tokenizer_config.json's extra_special_tokens is a {type(extra).__name__}, "
            f"which transformers {major} cannot read",
            file="tokenizer_config.json",
            expected="dict",
            found=type(extra).__name__,
        )
    name = settings.get("tokenizer_class")
    if major < 5 and name == "TokenizersBackend":
        yield finding(
            "E_TOKENIZER:class",
            f"tokenizer_class {name} was written by transformers 5 and does not exist in transformers {major}",
            file="tokenizer_config.json",
            expected=base.get("tokenizer_class") or "PreTrainedTokenizerFast",
            found=name,
        )


def _template_check(facts: TokenizerFacts, base: TokenizerFacts, limits: IntakeLimits) -> Iterator[Finding]:
    if facts.template is None:
        if limits.chat_template_required:
            yield finding("E_CHAT_TEMPLATE", "the tokenizer has no chat template, and this task needs one")
        return
    if facts.template.strip() != (base.template or "").strip() and not limits.chat_template_required:
        yield finding(
            "W_TEMPLATE_IGNORED",
            "the chat template differs from the base's; the grader applies the base's",
            found=hashlib.sha256(facts.template.encode(errors="replace")).hexdigest(),
            expected=hashlib.sha256((base.template or "").encode()).hexdigest(),
        )


def _template_text(value: object) -> str | None:
    """The default template: a string, or one of a list of named ones."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        for each in value:
            if isinstance(each, Mapping) and each.get("name") == "default" and isinstance(each.get("template"), str):
                return str(each["template"])
    return None


def _broken(why: str) -> Refused:
    return refused("E_TOKENIZER", f"tokenizer.json {why}", file="tokenizer.json")
