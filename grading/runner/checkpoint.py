"""Opening a checkpoint's parts one by one, so that each failure has its own code."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from grading.runner.faults import ArtifactFault, InfraFault, first_line
from grading.runner.load_errors import load_fault
from grading.runner.prompts import vocabulary_fault
from grading.runner.templates import ChatRenderer

TOKENIZER_FIX = "Save the base model's tokenizer with the checkpoint: tokenizer.save_pretrained(folder)."
WRAPPER_PREFIXES = ("base_model.model.", "_orig_mod.", "module.")


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint folder whose config, tokenizer and tensor names have been checked; its weights are not loaded."""

    path: Path
    config: Any
    tokenizer: Any
    rows: int
    """Rows of the embedding."""
    positions: int | None
    """Most positions the config allows, None where it names none."""
    weights_bytes: int
    """Bytes of the safetensors files."""


def load_renderer(reference: Path) -> ChatRenderer:
    """The grader's template. Raises: InfraFault: I_REFERENCE when the base model's tokenizer does not load."""
    try:
        return ChatRenderer(AutoTokenizer.from_pretrained(reference, trust_remote_code=False, local_files_only=True))
    except Exception as error:
        raise InfraFault("I_REFERENCE", f"the base model's tokenizer does not load: {first_line(error)}") from error


def open_checkpoint(path: Path, renderer: ChatRenderer) -> Checkpoint:
    """Config, tokenizer and tensor names of the folder `path`.

    Raises: ArtifactFault: E_ARCH, E_TOKENIZER, E_CHAT_TEMPLATE, E_VOCAB, E_KEYS, E_SHAPE, … InfraFault.
    """
    config = _load_config(path)
    text_config = config.get_text_config()
    tokenizer = _load_tokenizer(path)
    _check_template_tokens(tokenizer, renderer)
    rows = int(text_config.vocab_size)
    specials = [*tokenizer.added_tokens_decoder, *tokenizer.all_special_ids]
    if (highest := max(specials, default=0)) >= rows:
        raise vocabulary_fault(highest, rows)
    _check_keys(path)
    return Checkpoint(
        path=path,
        config=config,
        tokenizer=tokenizer,
        rows=rows,
        positions=getattr(text_config, "max_position_embeddings", None),
        weights_bytes=sum(f.stat().st_size for f in path.glob("*.safetensors")),
    )


def _load_config(path: Path) -> Any:
    try:
        return AutoConfig.from_pretrained(path, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        raise ArtifactFault(
            "E_ARCH",
            "config.json does not describe a model that this grader knows",
            fix="Keep the base model's config.json: its model_type, architectures and sizes.",
            detail={"file": "config.json", "error": first_line(error)},
        ) from error


def _load_tokenizer(path: Path) -> Any:
    try:
        return AutoTokenizer.from_pretrained(path, trust_remote_code=False, local_files_only=True)
    except Exception as error:
        raise ArtifactFault(
            "E_TOKENIZER", "the tokenizer does not load", fix=TOKENIZER_FIX, detail={"error": first_line(error)}
        ) from error


def _check_template_tokens(tokenizer: Any, renderer: ChatRenderer) -> None:
    split = [t for t in renderer.special_tokens() if len(tokenizer.encode(t, add_special_tokens=False)) != 1]
    if split:
        raise ArtifactFault(
            "E_CHAT_TEMPLATE",
            "the tokenizer does not know special tokens that the base model's chat template writes",
            fix=TOKENIZER_FIX,
            detail={"expected": split},
        )


def _check_keys(path: Path) -> None:
    """Compare tensor names and shapes with what the config implies, without reading the weights."""
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            path,
            device_map="meta",
            output_loading_info=True,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
        )
    except Exception as error:
        raise load_fault(error) from error
    _, info = loaded
    missing, unexpected = sorted(info["missing_keys"]), sorted(info["unexpected_keys"])
    if not missing and not unexpected:
        return
    prefix = next((p for p in WRAPPER_PREFIXES if unexpected and all(p in key for key in unexpected)), None)
    raise ArtifactFault(
        "E_KEYS",
        f"{len(missing)} tensors are missing and {len(unexpected)} are not part of the model",
        fix=f"Strip the prefix {prefix!r}: save the inner model." if prefix else "Save the whole, unwrapped model.",
        detail={"expected": missing[:3], "found": unexpected[:3]},
    )
