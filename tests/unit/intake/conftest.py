"""Tiny Llama checkpoints, made once with transformers and saved as people save them, and a bench to submit them on."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from grading.intake import BaseFacts, IntakeLimits, IntakeReport, View, base_facts, checkpoint_take

WORKSPACE = PurePosixPath("/workspace")
TEMPLATE = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<eos>{% endfor %}"


@dataclass(frozen=True)
class Made:
    """Folders below one root: `base` and `untied_base`, and `trained` and `untied_trained`, which are honest work."""

    root: Path

    def __truediv__(self, name: str) -> Path:
        return self.root / name


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    import torch

    transformers: Any = import_module("transformers")
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(0)
    root = tmp_path_factory.mktemp("made")
    tokenizer = _tokenizer()
    for tied, prefix in ((True, ""), (False, "untied_")):
        config = transformers.LlamaConfig(
            vocab_size=48,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            rope_theta=500000.0,
            tie_word_embeddings=tied,
            bos_token_id=None,
            eos_token_id=1,
            pad_token_id=0,
        )
        model = transformers.LlamaForCausalLM(config).to(torch.bfloat16)
        _save(model, tokenizer, root / f"{prefix}base")
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1 + 0.05 * torch.randn_like(parameter))
        _save(model, tokenizer, root / f"{prefix}trained")
        if tied:
            _save(model.float(), tokenizer, root / "float32")
            model.to(torch.bfloat16).save_pretrained(root / "sharded", max_shard_size="15KB")
            tokenizer.save_pretrained(root / "sharded")
            _save(model.model, tokenizer, root / "headless")
    return Made(root)


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, models

    symbols = ["<pad>", "<eos>", *"abcdefghijklmnopqrstuvwxyz0123456789+= "]
    inner = Tokenizer(models.BPE(vocab={symbol: at for at, symbol in enumerate(symbols)}, merges=[]))
    tokenizer = import_module("transformers").PreTrainedTokenizerFast(
        tokenizer_object=inner, eos_token="<eos>", pad_token="<pad>"
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def _save(model: Any, tokenizer: Any, folder: Path) -> None:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


class Bench:
    """A workspace on disk with the base mounted in it, and a store."""

    def __init__(self, made: Made, folder: Path, facts: Callable[[str], BaseFacts], base: str = "base") -> None:
        self.made = made
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.outside = folder / "outside"
        self.outside.mkdir()
        self.store = folder / "store"
        self.base_name = base
        self.base = facts(base)
        self.view = View(
            (
                (WORKSPACE, self.workspace),
                (WORKSPACE / "models/tiny", made / base),
                (PurePosixPath("/opt/tools"), self.outside),
            )
        )

    def put(self, source: str = "trained", name: str = "ckpt") -> Path:
        """A fresh copy of a made checkpoint in the workspace."""
        return Path(shutil.copytree(self.made / source, self.workspace / name))

    def take(self, path: str = "ckpt", **limits: Any) -> IntakeReport:
        report = self.take_leaving_rubbish(path, **limits)
        assert not list(self.store.glob(".incoming-*"))
        return report

    def take_leaving_rubbish(self, path: str = "ckpt", **limits: Any) -> IntakeReport:
        report = checkpoint_take(
            view=self.view,
            workspace=WORKSPACE,
            model_path=path,
            base=self.base,
            store=self.store,
            limits=IntakeLimits(**limits),
        )
        json.dumps(report.as_dict(), allow_nan=False)
        assert (report.snapshot is None) == (not report.accepted)
        return report

    def codes(self, path: str = "ckpt", **limits: Any) -> list[str]:
        return [each.code for each in self.take(path, **limits).findings]


@pytest.fixture(scope="session")
def facts(made: Made) -> Callable[[str], BaseFacts]:
    known: dict[str, BaseFacts] = {}

    def of(name: str) -> BaseFacts:
        if name not in known:
            known[name] = base_facts(made / name)
        return known[name]

    return of


@pytest.fixture
def bench(made: Made, facts: Callable[[str], BaseFacts], tmp_path: Path) -> Bench:
    return Bench(made, tmp_path, facts)


@pytest.fixture
def untied_bench(made: Made, facts: Callable[[str], BaseFacts], tmp_path: Path) -> Bench:
    return Bench(made, tmp_path, facts, base="untied_base")
