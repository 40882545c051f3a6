"""Names of training libraries: which trainer class, command or setting means which method.

Facts of the public documentation of TRL, verl, OpenRLHF, LLaMA-Factory, axolotl, ms-swift and torchtune. Preference
losses that are no DPO, KTO or ORPO of their own (IPO, SimPO, CPO, online DPO, …) count as DPO.
"""

import re

from traces.methods.words import Method

KNOWN_ROOTS = frozenset(
    ("trl", "unsloth", "transformers", "peft", "accelerate", "torch", "lightning", "pytorch_lightning", "swift", "verl")
)

_TRAINERS = {
    "Trainer": Method.SFT,
    "Seq2SeqTrainer": Method.SFT,
    "IterativeSFTTrainer": Method.SFT,
    "CPOTrainer": Method.DPO,
    "XPOTrainer": Method.DPO,
    "NashMDTrainer": Method.OTHER_RL,
    "BCOTrainer": Method.KTO,
    "GKDTrainer": Method.DISTILLATION,
    "GOLDTrainer": Method.DISTILLATION,
    "MiniLLMTrainer": Method.DISTILLATION,
    "DistillationTrainer": Method.DISTILLATION,
    "AsyncDistillationTrainer": Method.DISTILLATION,
    "SDFTTrainer": Method.DISTILLATION,
    "SDPOTrainer": Method.DISTILLATION,
    "GMPOTrainer": Method.GRPO,
    "GSPOTrainer": Method.GRPO,
    "DAPOTrainer": Method.GRPO,
    "UnslothTrainer": Method.SFT,
    "ReinforceTrainer": Method.OTHER_RL,
}
_FAMILY = {
    "SFT": Method.SFT,
    "DPO": Method.DPO,
    "KTO": Method.KTO,
    "ORPO": Method.ORPO,
    "SimPO": Method.DPO,
    "GRPO": Method.GRPO,
    "RLOO": Method.OTHER_RL,
    "PPO": Method.PPO,
    "PPOv2": Method.PPO,
}
_TRAINER = re.compile(r"\w*?(SFT|ORPO|SimPO|DPO|KTO|GRPO|RLOO|PPOv2|PPO)Trainer$")
_LIGHTNING = re.compile(r"^(pytorch_lightning|lightning)(\.\w+)*\.Trainer$")


def trainer_method(dotted: str) -> Method | None:
    """The method of a trainer class by its dotted name; `None` when it is no trainer of a policy."""
    name = dotted.rpartition(".")[2]
    if _LIGHTNING.match(dotted):
        return None
    if name in _TRAINERS:
        return _TRAINERS[name]
    match = _TRAINER.match(name)
    return _FAMILY[match.group(1)] if match else None


def is_lightning(dotted: str) -> bool:
    return bool(_LIGHTNING.match(dotted))


_LOSS = re.compile(r"(?i)(orpo|simpo|dpo|kto|grpo|gspo|dapo|ppo|reinforce|policy_gradient|rloo)")
_LOSS_METHOD = {
    "orpo": Method.ORPO,
    "simpo": Method.DPO,
    "dpo": Method.DPO,
    "kto": Method.KTO,
    "grpo": Method.GRPO,
    "gspo": Method.GRPO,
    "dapo": Method.GRPO,
    "ppo": Method.PPO,
}


def loss_method(dotted: str) -> Method | None:
    """The method of a library's loss function or class (`GRPOLoss`, `dpo_loss`), by its name."""
    name = dotted.rpartition(".")[2]
    match = _LOSS.search(name)
    if match is None or not re.search(r"(?i)loss", name):
        return None
    return _LOSS_METHOD.get(match.group(1).lower(), Method.OTHER_RL)


TRL = {
    "sft": Method.SFT,
    "dpo": Method.DPO,
    "kto": Method.KTO,
    "orpo": Method.ORPO,
    "cpo": Method.DPO,
    "grpo": Method.GRPO,
    "rloo": Method.OTHER_RL,
    "ppo": Method.PPO,
    "online_dpo": Method.DPO,
    "dpo_online": Method.DPO,
    "gkd": Method.DISTILLATION,
    "distillation": Method.DISTILLATION,
}
SWIFT = {**TRL, "simpo": Method.DPO, "pt": Method.SFT}
LLAMA_FACTORY = {"sft": Method.SFT, "pt": Method.SFT, "dpo": Method.DPO, "kto": Method.KTO, "ppo": Method.PPO}
AXOLOTL = {
    "dpo": Method.DPO,
    "ipo": Method.DPO,
    "simpo": Method.DPO,
    "orpo": Method.ORPO,
    "kto": Method.KTO,
    "grpo": Method.GRPO,
    "gdpo": Method.GRPO,
}
ADVANTAGE = {
    # verl's algorithm.adv_estimator and OpenRLHF's --advantage_estimator
    "gae": Method.PPO,
    "grpo": Method.GRPO,
    "grpo_passk": Method.GRPO,
    "grpo_vectorized": Method.GRPO,
    "gdpo": Method.GRPO,
    "group_norm": Method.GRPO,
    "dr_grpo": Method.GRPO,
    "gpg": Method.OTHER_RL,
    "rloo": Method.OTHER_RL,
    "rloo_vectorized": Method.OTHER_RL,
    "remax": Method.OTHER_RL,
    "opo": Method.OTHER_RL,
    "reinforce": Method.OTHER_RL,
    "reinforce_baseline": Method.OTHER_RL,
    "reinforce_plus_plus": Method.OTHER_RL,
    "reinforce_plus_plus_baseline": Method.OTHER_RL,
}
OPENRLHF = {
    "train_sft": Method.SFT,
    "train_dpo": Method.DPO,
    "train_kto": Method.KTO,
    "train_kd": Method.DISTILLATION,
    "train_ppo": Method.PPO,
    "train_ppo_ray": Method.PPO,
}
