"""Training frameworks that are started by a command and a configuration file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from traces.methods.arguments import option
from traces.methods.libraries import ADVANTAGE, AXOLOTL, LLAMA_FACTORY, OPENRLHF, SWIFT, TRL
from traces.methods.words import Method


@dataclass
class Launch:
    """What a framework's command does. `method` None with a `why`: nothing to the policy's weights."""

    method: Method | None
    why: str
    output: str | None = None
    start: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    is_copy: bool = False
    """A merge of an adapter or a change of format: the output has the history of `start`."""


@dataclass
class Settings:
    """Options of the command line over those of the configuration file, nested keys joined by dots."""

    argv: list[str]
    document: Mapping[str, Any] = field(default_factory=dict)
    unread: str | None = None
    """A configuration file that is named and could not be read."""

    def get(self, *names: str) -> str | None:
        for name in names:
            found = option(self.argv, [f"--{name}"])
            if found is not None:
                return str(found).lower() if found is True else str(found)
        for name in names:
            for word in reversed(self.argv):
                head, equals, tail = word.lstrip("+").partition("=")
                if equals and head.lstrip("+-") == name:
                    return tail
            value = nested(self.document, name)
            if isinstance(value, str | int | float | bool):
                return str(value).lower() if isinstance(value, bool) else str(value)
        return None

    def texts(self) -> Iterator[str]:
        """Every text in it, for finding files by name."""
        yield from (part for word in self.argv for part in re.split(r"[=,\[\]'\"]", word) if part)
        yield from _texts(self.document, [2_000])


def nested(document: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        document = document.get(part) if isinstance(document, Mapping) else None
    return document


def _texts(value: Any, room: list[int]) -> Iterator[str]:
    room[0] -= 1
    if room[0] < 0:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each, room)


def _launch(
    method: Method | None, why: str, settings: Settings, outputs: tuple[str, ...], starts: tuple[str, ...]
) -> Launch:
    start = tuple(found for name in starts if (found := settings.get(name)) is not None)
    doubts = (f"its configuration {settings.unread} could not be read",) if settings.unread else ()
    unknown = tuple(f"its settings {word} are not known" for word in settings.argv if word.startswith("$"))[:1]
    return Launch(method, why, settings.get(*outputs), start, tuple(settings.texts()), (*doubts, *unknown))


def trl(command: str, settings: Settings) -> Launch | None:
    if command not in TRL:
        return None
    return _launch(TRL[command], f"trl {command}", settings, ("output_dir",), ("model_name_or_path",))


def llama_factory(settings: Settings) -> Launch:
    stage = settings.get("stage") or "sft"
    outputs, starts = ("output_dir",), ("model_name_or_path", "adapter_name_or_path")
    if settings.get("do_train") not in ("true", "True", "1") and not settings.unread:
        return Launch(None, "LLaMA-Factory without do_train trains nothing")
    method = LLAMA_FACTORY.get(stage)
    if stage == "dpo" and settings.get("pref_loss") == "orpo":
        method = Method.ORPO
    return _launch(method, f"LLaMA-Factory with stage: {stage}", settings, outputs, starts)


def axolotl(settings: Settings) -> Launch:
    kind = settings.get("rl") or ""
    if settings.get("reward_model") == "true" or settings.get("process_reward_model") == "true":
        return Launch(None, "axolotl trains a reward model")
    method = AXOLOTL.get(kind.lower()) if kind and kind not in ("none", "null", "false") else Method.SFT
    why = f"axolotl with rl: {kind}" if method is not Method.SFT else "axolotl without rl"
    return _launch(method, why, settings, ("output_dir",), ("base_model", "lora_model_dir"))


def swift(command: str, settings: Settings) -> Launch | None:
    kind = settings.get("rlhf_type") or "dpo" if command == "rlhf" else command
    if command not in ("sft", "rlhf", "pt"):
        return None
    names = ("model", "model_id_or_path", "adapters", "resume_from_checkpoint")
    return _launch(
        SWIFT.get(kind),
        f"swift {command} {kind if command == 'rlhf' else ''}".strip(),
        settings,
        ("output_dir",),
        names,
    )


def verl(settings: Settings) -> Launch:
    estimator = settings.get("algorithm.adv_estimator") or "gae"
    method = ADVANTAGE.get(estimator.rpartition(".")[2].lower())
    doubts = () if method is not None else (f"its advantage estimator is {estimator}",)
    why = f"verl's main_ppo with algorithm.adv_estimator={estimator}"
    made = _launch(
        method or Method.OTHER_RL, why, settings, ("trainer.default_local_dir",), ("actor_rollout_ref.model.path",)
    )
    made.doubts += doubts
    return made


def openrlhf(command: str, settings: Settings) -> Launch | None:
    method = OPENRLHF.get(command)
    why = f"OpenRLHF's {command}"
    if command.startswith("train_ppo"):
        estimator = settings.get("advantage_estimator", "algo.advantage.estimator") or "gae"
        method, why = ADVANTAGE.get(estimator, Method.OTHER_RL), f"{why} with advantage_estimator {estimator}"
    if method is None:
        return Launch(None, f"{why} trains no policy") if command in ("train_rm", "train_prm") else None
    return _launch(method, why, settings, ("save_path", "ckpt_path"), ("pretrain", "model"))


def torchtune(recipe: str, settings: Settings) -> Launch | None:
    name = recipe.rpartition("/")[2]
    kinds = (
        ("knowledge_distillation", Method.DISTILLATION), ("kd_", Method.DISTILLATION), ("dpo", Method.DPO),
        ("grpo", Method.GRPO), ("ppo", Method.PPO), ("finetune", Method.SFT),
    )  # fmt: skip
    for word, method in kinds:
        if word in name:
            return _launch(method, f"tune run {recipe}", settings, ("output_dir",), ("checkpointer.checkpoint_dir",))
    return None


MODULES = {
    "verl.trainer.main_ppo": "verl",
    "recipe.dapo.main_dapo": "verl",
    "recipe.dapo.src.main_dapo": "verl",
    "verl.trainer.fsdp_sft_trainer": "verl_sft",
    "verl.trainer.sft_trainer": "verl_sft",
    "axolotl.cli.train": "axolotl",
    "llamafactory.launcher": "llama_factory",
}


def of_module(dotted: str, settings: Settings) -> Launch | None:
    """`python -m dotted …`."""
    head, _, last = dotted.rpartition(".")
    kind = MODULES.get(dotted, "")
    if kind == "verl":
        return verl(settings)
    if kind == "verl_sft":
        names = ("model.partial_pretrain", "model.path")
        return _launch(Method.SFT, "verl's SFT trainer", settings, ("trainer.default_local_dir",), names)
    if kind == "axolotl":
        return axolotl(settings)
    if kind == "llama_factory":
        return llama_factory(settings)
    if head in ("trl.scripts", "trl.cli"):
        return trl(last, settings)
    if dotted in ("trl", "trl.cli"):
        return trl(settings.argv[0], settings) if settings.argv else None
    if head in ("openrlhf.cli",):
        return openrlhf(last, settings)
    if dotted.startswith(("verl.model_merger", "verl.scripts.model_merger")):
        source = settings.get("local_dir")
        return Launch(None, "a change of format", settings.get("target_dir"), (source,) if source else (), is_copy=True)
    if dotted.startswith("mergekit."):
        return Launch(Method.MERGING, f"python -m {dotted}")
    return None


SCRIPT = re.compile(r"(?:^|/)trl/(?:scripts|examples/scripts)/(\w+)\.py$")
FACTORY_SCRIPT = re.compile(r"(?:^|/)src/train(_bash)?\.py$")


def of_script(path: str, settings: Settings) -> Launch | None:
    """A framework's own script that is not in the folder."""
    match = SCRIPT.search(path)
    if match:
        return trl(match.group(1), settings)
    if FACTORY_SCRIPT.search(path) and settings.get("stage"):
        return llama_factory(settings)
    return None


def of_program(program: str, rest: list[str], settings: Settings) -> Launch | None:
    """A framework's own command. `rest` are its words, `settings` the same with the configuration file."""
    first = rest[0] if rest else ""
    inner = Settings(rest[1:], settings.document, settings.unread)
    if program == "trl":
        return trl(first, inner)
    if program in ("llamafactory-cli", "lmf"):
        if first == "export":
            start = tuple(each for name in ("model_name_or_path", "adapter_name_or_path") if (each := inner.get(name)))
            return Launch(None, "an adapter is merged into its base", inner.get("export_dir"), start, is_copy=True)
        return llama_factory(inner) if first == "train" else None
    if program == "axolotl":
        return axolotl(inner) if first == "train" else None
    if program in ("swift", "megatron"):
        return swift(first, inner)
    if program == "tune":
        words = [word for word in rest[1:] if not word.startswith("-") and "=" not in word]
        found = (launch for word in words if (launch := torchtune(word, inner)) is not None)
        return next(found, None) if first == "run" else None
    if program in ("mergekit-yaml", "mergekit-multi", "mergekit-mega", "mergekit-moe", "mergekit-evolve"):
        return Launch(Method.MERGING, program, rest[1] if len(rest) > 1 else None, tuple(settings.texts()))
    return None
