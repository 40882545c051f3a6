"""Real broken checkpoints: each is refused with the code that tells its owner what to mend, never with a score."""

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from grading.contract import RunnerSpec, RunnerVerdict
from grading.runner.evaluation import evaluate
from grading.runner.events import Events
from tests.unit.runner.checkpoints import SIZES, character_tokenizer, llama, save

Spec = Callable[..., RunnerSpec]


def grade(spec: RunnerSpec, out: Path) -> RunnerVerdict:
    out.mkdir(exist_ok=True)
    return evaluate(spec, out, Events(io.StringIO()))


def edit_json(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def edit_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> None:
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, metadata={"format": "pt"})


def wrapped(folder: Path) -> None:
    edit_tensors(folder, lambda t: {f"base_model.model.{name}": value for name, value in t.items()})


def incomplete(folder: Path) -> None:
    edit_tensors(folder, lambda t: {name: value for name, value in t.items() if "layers.1.mlp" not in name})


def emptied(folder: Path) -> None:
    edit_tensors(folder, lambda t: {**t, "model.norm.weight": torch.empty(0)})


def diverged(folder: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        tensors["model.layers.0.mlp.up_proj.weight"][3, 3] = float("nan")
        return tensors

    edit_tensors(folder, change)


def cut_off(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def without_tokenizer(folder: Path) -> None:
    for path in folder.glob("tokenizer*"):
        path.unlink()


def broken_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").write_text('{"version": "1.0", "model": {"type": "Unknown"}}')


def unknown_type(folder: Path) -> None:
    edit_json(folder / "config.json", model_type="foo")


def short_context(folder: Path) -> None:
    edit_json(folder / "config.json", max_position_embeddings=32)


def more_layers(folder: Path) -> None:
    edit_json(folder / "config.json", num_hidden_layers=3)


def wider(folder: Path) -> None:
    edit_json(folder / "config.json", intermediate_size=128)


def tokens_without_rows(folder: Path) -> None:
    tokenizer = character_tokenizer()
    tokenizer.add_tokens(["<|new|>"], special_tokens=True)
    tokenizer.save_pretrained(folder)


def without_template_tokens(folder: Path) -> None:
    without_tokenizer(folder)
    raw = json.loads(character_tokenizer().backend_tokenizer.to_str())
    raw["added_tokens"] = [token for token in raw["added_tokens"] if "|" not in token["content"]]
    for name in ("<|im_start|>", "<|im_end|>"):
        del raw["model"]["vocab"][name]
    (folder / "tokenizer.json").write_text(json.dumps(raw))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<eos>", "bos_token": "<bos>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


@pytest.mark.parametrize(
    ("damage", "code", "hint"),
    [
        (wrapped, "E_KEYS", "base_model.model."),
        (incomplete, "E_KEYS", "model.layers.1.mlp"),
        (emptied, "E_SHAPE", ""),
        (diverged, "E_NONFINITE", ""),
        (cut_off, "E_TRUNCATED", ""),
        (without_tokenizer, "E_TOKENIZER", ""),
        (broken_tokenizer, "E_TOKENIZER", ""),
        (unknown_type, "E_ARCH", "foo"),
        (short_context, "E_CONTEXT", "32"),
        (more_layers, "E_KEYS", "model.layers.2"),
        (wider, "E_SHAPE", ""),
        (tokens_without_rows, "E_VOCAB", str(SIZES["vocab_size"])),
        (without_template_tokens, "E_CHAT_TEMPLATE", "<|im_start|>"),
    ],
)
def test_refusals(damage: Any, code: str, hint: str, base: Path, make_spec: Spec, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(base, checkpoint)
    damage(checkpoint)
    verdict = grade(make_spec(checkpoint=str(checkpoint)), tmp_path / "out")
    assert verdict.finding is not None
    assert (verdict.finding.code, verdict.fault, verdict.score) == (code, "artifact", None)
    assert verdict.finding.fix
    assert hint in json.dumps(verdict.as_dict())


def test_custom_code_is_never_run(base: Path, make_spec: Spec, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(base, checkpoint)
    (checkpoint / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    targets = {"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M", "AutoTokenizer": ["evil.T", "evil.T"]}
    edit_json(checkpoint / "config.json", model_type="evil", auto_map=targets)
    edit_json(checkpoint / "tokenizer_config.json", auto_map=targets)
    verdict = grade(make_spec(checkpoint=str(checkpoint)), tmp_path / "out")
    assert verdict.fault == "artifact"
    assert not (tmp_path / "ran").exists()


def test_generation_config_changes_nothing_but_the_stops(base: Path, make_spec: Spec, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    shutil.copytree(base, checkpoint)
    settings = {"do_sample": True, "temperature": 5.0, "repetition_penalty": 3.0, "eos_token_id": 2, "max_length": 3}
    (checkpoint / "generation_config.json").write_text(json.dumps(settings))
    plain = grade(make_spec(), tmp_path / "plain")
    changed = grade(make_spec(checkpoint=str(checkpoint)), tmp_path / "changed")
    assert plain.samples_sha256 == changed.samples_sha256 != ""


def test_a_model_that_never_stops_is_scored_with_a_warning(make_spec: Spec, tmp_path: Path) -> None:
    verdict = grade(make_spec(), tmp_path / "out")
    assert verdict.score is not None
    (warning,) = verdict.warnings
    assert warning.code == "W_NO_STOP"
    assert warning.detail["template_end_of_turn"] == "<|im_end|>"


def test_a_limit_is_another_protocol(make_spec: Spec, tmp_path: Path) -> None:
    verdict = grade(make_spec(limit=3), tmp_path / "out")
    assert (verdict.protocol, verdict.n_expected, verdict.n_scored) == ("toy/1;limit=3", 3, 3)


def test_another_protocol_than_the_tasks_is_ours(make_spec: Spec, tmp_path: Path) -> None:
    verdict = grade(make_spec(protocol="toy/2"), tmp_path / "out")
    assert verdict.finding is not None
    assert (verdict.finding.code, verdict.fault) == ("I_PROTOCOL", "infra")


def test_a_base_without_a_template_is_asked_in_plain_text(make_spec: Spec, tmp_path: Path) -> None:
    plain = save(tmp_path / "plain", llama(), character_tokenizer(template=None))
    verdict = grade(make_spec(reference=str(plain)), tmp_path / "out")
    assert verdict.versions["template"] == "plain/1"
    assert verdict.score is not None


def test_a_base_that_does_not_load_is_ours(make_spec: Spec, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    verdict = grade(make_spec(reference=str(tmp_path / "empty")), tmp_path / "out")
    assert verdict.finding is not None
    assert (verdict.finding.code, verdict.fault) == ("I_REFERENCE", "infra")
