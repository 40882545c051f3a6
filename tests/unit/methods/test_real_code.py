"""Code that other people, and this platform, use."""

from pathlib import Path

from traces.methods import Confidence, Method, label_submission

ROOT = Path(__file__).resolve().parents[3]


def test_the_example_agent_does_sft_then_grpo() -> None:
    report = label_submission(ROOT / "benchmark" / "agents" / "example", commands=["bash start.sh"])
    assert report.methods == (Method.SFT, Method.GRPO)
    assert report.confidence is Confidence.CERTAIN
    assert {finding.evidence.file for finding in report.findings} == {"sft.py", "grpo.py"}


def test_the_example_agent_as_its_runs_keep_it() -> None:
    """Its program imports what trains; nothing tells that it was started."""
    folder = ROOT / "benchmark" / "agents" / "example"
    code = {f"example_agent/{path.name}": path.read_bytes() for path in folder.glob("*.py")}
    report = label_submission(code, model_path="/workspace/output/v2_grpo")
    assert report.methods == (Method.SFT, Method.GRPO)
    assert label_submission(code, model_path="/workspace/output/v1_sft").methods == (Method.SFT,)


def test_the_platform_itself_trains_nothing() -> None:
    assert label_submission(ROOT / "frontend").methods == ()


def test_a_workspace_of_the_reference_layout(shared_data: Path) -> None:
    (workspace,) = (shared_data / "bundles" / "autorl_workspace" / "gsm8k").iterdir()
    report = label_submission(workspace, commands=["cd code && python train.py"], model_path="output/v1")
    assert report.methods == (Method.SFT,)
    assert report.findings[0].evidence.file == "code/train.py"
