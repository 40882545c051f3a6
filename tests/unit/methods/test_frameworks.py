"""Commands of training frameworks, through wrappers and launchers."""

import pytest

from tests.unit.methods.cases import label
from traces.methods import Method

EMPTY = ">>> notes.txt\n"


@pytest.mark.parametrize(
    ("command", "method"),
    [
        ("trl sft --output_dir o", Method.SFT),
        ("trl rloo --output_dir o", Method.OTHER_RL),
        ("trl reward --output_dir o", Method.NONE),
        ("trl vllm-serve --model m", Method.NONE),
        ("python -m trl.scripts.kto --output_dir o", Method.KTO),
        ("accelerate launch trl/scripts/grpo.py --output_dir o", Method.GRPO),
        ("accelerate config default", Method.NONE),
        ("python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo", Method.GRPO),
        ("python -m verl.trainer.main_ppo algorithm.adv_estimator=gae", Method.PPO),
        ("python -m verl.trainer.main_ppo", Method.PPO),
        ("python -m verl.trainer.main_ppo algorithm.adv_estimator=reinforce_plus_plus", Method.OTHER_RL),
        ("torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer model.partial_pretrain=m", Method.SFT),
        ("deepspeed --module openrlhf.cli.train_sft --pretrain m", Method.SFT),
        ("deepspeed --module openrlhf.cli.train_rm --pretrain m", Method.NONE),
        ("python -m openrlhf.cli.train_ppo_ray --advantage_estimator group_norm", Method.GRPO),
        ("python -m openrlhf.cli.train_ppo_ray", Method.PPO),
        ("python -m openrlhf.cli.train_kd --pretrain m", Method.DISTILLATION),
        ("swift rlhf --rlhf_type=kto --model m", Method.KTO),
        ("swift infer --model m", Method.NONE),
        ("tune run lora_dpo_single_device --config c", Method.DPO),
        ("tune run --nproc_per_node 2 full_finetune_distributed --config c", Method.SFT),
        ("tune download m", Method.NONE),
        ("mergekit-yaml c.yml out", Method.MERGING),
        ("llamafactory-cli chat c.yaml", Method.NONE),
        ("axolotl preprocess c.yaml", Method.NONE),
        ("timeout 3600 env A=b nohup uv run --no-sync trl dpo --output_dir o", Method.DPO),
        ("tmux new-session -d -s t 'trl dpo --output_dir o'", Method.DPO),
        ("bash -lc 'cd x && trl dpo --output_dir o'", Method.DPO),
        ("conda run -n env trl dpo --output_dir o", Method.DPO),
        ("pip install trl && echo trl dpo", Method.NONE),
    ],
)
def test_command(command: str, method: Method) -> None:
    assert label(EMPTY, command).primary is method


def test_lineage_through_frameworks_and_a_change_of_format() -> None:
    report = label(
        EMPTY,
        "python -m openrlhf.cli.train_sft --pretrain models/base --save_path ck/sft",
        "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo actor_rollout_ref.model.path=ck/sft "
        "trainer.default_local_dir=ck/rl",
        "python -m verl.model_merger merge --local_dir ck/rl/global_step_9/actor --target_dir out/hf",
        model_path="out/hf",
    )
    assert report.methods == (Method.SFT, Method.GRPO)


def test_an_unknown_estimator_is_some_rl_with_a_doubt() -> None:
    report = label(EMPTY, "python -m verl.trainer.main_ppo algorithm.adv_estimator=novel")
    assert report.primary is Method.OTHER_RL
    assert "novel" in report.findings[0].doubts[0]


@pytest.mark.parametrize(
    ("setting", "method"),
    [
        ("rl: ipo", Method.DPO),
        ("rl: orpo", Method.ORPO),
        ("rl:", Method.SFT),
        ("reward_model: true", Method.NONE),
    ],
)
def test_axolotl(setting: str, method: Method) -> None:
    assert label(f">>> c.yml\nbase_model: m\n{setting}\n", "axolotl train c.yml").primary is method
