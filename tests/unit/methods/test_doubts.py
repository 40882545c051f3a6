"""How sure a label is, and in which words that is said."""

from tests.unit.methods.cases import label, program
from traces.methods import Confidence, Method

SFT = 'SFTTrainer("models/base", args=SFTConfig(output_dir="output/s"), train_dataset=d).train()\n'
GRPO = 'GRPOTrainer("output/s", reward_funcs=f, args=GRPOConfig(output_dir="output/g"), train_dataset=d).train()\n'
TRL = "from trl import SFTConfig, SFTTrainer, GRPOConfig, GRPOTrainer\n"


def test_settings_that_nobody_can_know_are_a_doubt() -> None:
    known = label(
        ">>> run.sh\nARGS=(algorithm.adv_estimator=grpo)\npython -m verl.trainer.main_ppo ${ARGS[@]} $@\n",
        "bash run.sh",
    )
    assert known.methods == (Method.GRPO,)
    assert known.findings[0].doubts == ()
    unknown = label('>>> run.sh\nsource env.sh\npython -m verl.trainer.main_ppo "${ARGS[@]}"\n', "bash run.sh")
    assert unknown.findings[0].doubts == ("its settings ${ARGS[@]} are not known",)


def test_a_trainer_on_a_straight_path_is_certain_and_names_file_and_line() -> None:
    report = program(TRL + SFT)
    (finding,) = report.findings
    assert report.confidence is Confidence.CERTAIN
    assert (finding.evidence.file, finding.evidence.line) == ("train.py", 2)
    assert "SFTTrainer is trained" in finding.evidence.why


def test_an_undecidable_branch_makes_it_probable() -> None:
    report = program(TRL + "import os\nif os.path.exists('x'):\n    " + SFT)
    assert report.confidence is Confidence.PROBABLE
    assert "line 3" in report.findings[0].doubts[0]


def test_a_branch_that_trains_alike_on_both_sides_is_no_doubt() -> None:
    code = f"{TRL}import os\nif os.path.exists('x'):\n    {SFT}else:\n    {SFT}"
    assert program(code).confidence is Confidence.CERTAIN


def test_either_of_two_methods_is_reported_with_a_doubt() -> None:
    report = program(f"{TRL}import os\nif os.path.exists('x'):\n    {SFT}else:\n    {GRPO}")
    assert set(report.methods) == {Method.SFT, Method.GRPO}
    assert all(finding.confidence is Confidence.PROBABLE for finding in report.findings)


def test_an_exception_handler_is_a_doubt() -> None:
    report = program(f"{TRL}try:\n    load()\nexcept OSError:\n    {SFT}")
    assert "exception handler" in report.findings[0].doubts[0]


def test_a_trainer_of_an_unknown_module_is_a_doubt() -> None:
    report = program("from mine import PPOTrainer\nPPOTrainer('m').train()\n")
    assert report.methods == (Method.PPO,)
    assert "mine, which is not in the folder" in report.findings[0].doubts[0]


def test_two_doubts_make_it_possible() -> None:
    report = label(f">>> train.py\n{TRL}import os\nif os.path.exists('x'):\n    {SFT}")
    assert report.confidence is Confidence.POSSIBLE


def test_a_submitted_path_that_nothing_wrote_is_said() -> None:
    report = label(f">>> train.py\n{TRL}{SFT}{GRPO}", "python train.py", model_path="output/elsewhere")
    assert report.methods == (Method.SFT, Method.GRPO)
    assert all("not known to have written" in finding.doubts[-1] for finding in report.findings)


def test_the_submitted_path_selects_its_own_history() -> None:
    files = f">>> train.py\n{TRL}{SFT}{GRPO}"
    assert label(files, "python train.py", model_path="output/s").methods == (Method.SFT,)
    assert label(files, "python train.py", model_path="/w/run/output/g/checkpoint-9").methods == (
        Method.SFT,
        Method.GRPO,
    )


def test_a_program_that_is_missing_is_noted() -> None:
    report = label(f">>> train.py\n{TRL}{SFT}", "python other.py")
    assert any("other.py" in note.why for note in report.notes)


def test_no_method_has_no_confidence() -> None:
    report = program("print('hello')\n")
    assert (report.methods, report.primary, report.confidence) == ((), Method.NONE, None)


def test_a_loss_that_cannot_be_told_is_said_and_not_guessed() -> None:
    code = "from lost import step_loss\nloss = step_loss(batch)\nloss.backward()\noptimizer.step()\n"
    report = program(code)
    assert report.methods == ()
    assert report.trains_unknown
    assert any("could not be told" in note.why for note in report.notes)
