"""Four instructions graded with a scripted judge behind the socket: by the runner alone, and by a whole platform."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from benchmark.gateway.process import Gateway
from benchmark.tasks.alpacaeval import data
from benchmark.tasks.data_contract import DataTarget
from grading.contract import RunnerSpec
from grading.outside.judge import Judge, JudgeSettings
from grading.outside.store import AnswerStore
from tests.support.checkpoint import small_checkpoint
from tests.support.judge import Behaviour, ScriptedJudge, completion, in_turn, refuses, says
from tests.support.platform import ROOT, Platform
from tests.unit.tasks.alpacaeval.test_judging import blocks

LIMIT, POSITIONS = 4, 4096
REAL = "grading.services.sandbox_runner.SandboxRunner"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def fair(request: Mapping[str, Any]) -> Any:
    """Prefers the response with more different words, as a person would prefer the baseline's to a random model's."""
    shown = blocks(request)
    first = len(set(shown["response A"].split())) > len(set(shown["response B"].split()))
    odds = {"A": 0.97, "B": 0.03} if first else {"B": 0.97, "A": 0.03}
    return completion("A" if first else "B", probabilities=odds)


@pytest.fixture(scope="module")
def long_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_checkpoint(tmp_path_factory.mktemp("base") / "long", positions=POSITIONS)


def graded(
    folder: Path, target: DataTarget, base: Path, behave: Behaviour, **settings: Any
) -> tuple[dict[str, Any], Judge, ScriptedJudge]:
    """The verdict of one attempt in `folder`; a further attempt goes on with its samples."""
    folder.mkdir(exist_ok=True)
    socket = folder / "outside.sock"
    spec = RunnerSpec(
        protocol="alpacaeval/1;judge=scripted-judge-1",
        task_dir=str(Path(data.__file__).parent),
        held_out=str(target.held_out),
        checkpoint=str(base),
        reference=str(base),
        limit=LIMIT,
        threads=1,
        outside=str(socket),
    )
    (folder / "spec.json").write_text(json.dumps(asdict(spec)))
    with ScriptedJudge(behave) as scripted:
        judge = Judge(
            JudgeSettings(scripted.url, scripted.model, scripted.key, **settings), AnswerStore(folder / "answers")
        )
        with Gateway(socket=socket, routes=[judge.route()]):
            done = subprocess.run(
                [sys.executable, "-m", "grading.runner", str(folder / "spec.json"), str(folder / "out")],
                cwd=ROOT,
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "out" / "verdict.json").read_text()), judge, scripted


def test_the_runner_grades_through_the_socket(tmp_path: Path, target: DataTarget, long_base: Path) -> None:
    told, judge, scripted = graded(tmp_path / "one", target, long_base, fair)
    assert told["finding"] is None
    assert told["protocol"] == f"alpacaeval/1;judge=scripted-judge-1;limit={LIMIT}"
    assert (told["n_scored"], told["n_expected"]) == (LIMIT, LIMIT)
    assert told["metrics"]["win_rate"] == pytest.approx(3)
    assert told["metrics"]["discrete_win_rate"] == 0
    assert told["metrics"]["n_judged"] == LIMIT
    assert 0 <= told["score"] < 25
    assert "W_LC_APPROXIMATE" in [warning["code"] for warning in told["warnings"]]
    assert told["versions"]["numpy"]
    assert len(scripted.requests) == judge.counts.calls == 2 * LIMIT
    records = [json.loads(line) for line in (tmp_path / "one" / "out" / "samples.jsonl").read_text().splitlines()]
    assert [record["facts"]["weighted"] for record in records] == pytest.approx([0.03] * LIMIT)


def test_trouble_is_a_fault_first_and_the_same_score_afterwards(
    tmp_path: Path, target: DataTarget, long_base: Path
) -> None:
    """Rate limits pass; nonsense and a dead judge leave no score; the next attempt goes on from what is kept."""
    told, _, _ = graded(tmp_path / "two", target, long_base, says("Both have their merits."))
    assert (told["score"], told["fault"], told["finding"]["code"]) == (None, "infra", "I_PROVIDER")
    told, _, _ = graded(tmp_path / "two", target, long_base, in_turn([fair] * 3, refuses(503)), patience_s=1.0)
    assert (told["score"], told["fault"], told["finding"]["code"]) == (None, "infra", "I_PROVIDER")
    assert "answered 503" in told["finding"]["message"]
    limited = in_turn([refuses(429, Retry_After="0.2")] * 3, fair)
    told, judge, _ = graded(tmp_path / "two", target, long_base, limited)
    assert told["metrics"]["win_rate"] == pytest.approx(3)
    assert judge.counts.retries == 3
    whole, _, _ = graded(tmp_path / "three", target, long_base, fair)
    assert told["score"] == whole["score"]


def test_without_a_socket_nothing_is_loaded(tmp_path: Path, target: DataTarget, long_base: Path) -> None:
    spec = RunnerSpec(
        protocol="alpacaeval/1;judge=scripted-judge-1",
        task_dir=str(Path(data.__file__).parent),
        held_out=str(target.held_out),
        checkpoint=str(long_base),
        reference=str(long_base),
    )
    (tmp_path / "spec.json").write_text(json.dumps(asdict(spec)))
    command = [sys.executable, "-m", "grading.runner", str(tmp_path / "spec.json"), str(tmp_path / "out")]
    subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300, check=True)
    told = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert told["finding"]["code"] == "I_PROVIDER"
    assert told["seconds_loading"] == 0


@pytest.fixture(scope="module")
def judged_platform(
    sources: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Platform, ScriptedJudge]]:
    with ScriptedJudge(in_turn([refuses(429, Retry_After="0")], fair)) as scripted:
        settings = {
            "AGENT2_GRADING_RUNNER": REAL,
            "AGENT2_GRADING_LIMIT": str(LIMIT),
            "AGENT2_SANDBOX": "bubblewrap",
            "AGENT2_HEARTBEAT_S": "3",
            "AGENT2_TASK_ALPACAEVAL_DIR": str(sources),
            "AGENT2_JUDGE_URL": scripted.url,
            "AGENT2_JUDGE_MODEL": scripted.model,
            "AGENT2_JUDGE_KEY": scripted.key,
            "AGENT2_JUDGE_PRICE_IN": "1",
            "AGENT2_JUDGE_PRICE_OUT": "2",
        }
        platform = Platform(tmp_path_factory.mktemp("judged"), settings).start()
        try:
            yield platform, scripted
        finally:
            platform.stop()


@pytest.mark.bubblewrap
def test_a_whole_run_is_judged(judged_platform: tuple[Platform, ScriptedJudge], long_base: Path) -> None:
    platform, scripted = judged_platform
    slug = platform.run(long_base, "submit:1", budget=900, task="alpacaeval")
    run = platform.ended(slug, 600)
    assert run["state"] == "finished"
    assert run["protocol"] == f"alpacaeval/1;judge=scripted-judge-1;limit={LIMIT}"
    assert run["baseline_score"] is not None
    [row] = platform.submissions(slug)
    assert row["state"] == "graded"
    tallies = [json.loads(path.read_text()) for path in platform.data.glob("evaluations/*/outside.json")]
    assert len(tallies) == 2
    assert sum(tally["judge_calls"] for tally in tallies) == len(scripted.requests) - 1
    assert sum(tally["judge_retries"] for tally in tallies) == 1
    assert all(tally["judge_calls"] + tally["judge_cache_hits"] == 2 * LIMIT for tally in tallies)
    assert all(tally["judge_cost"] == pytest.approx(tally["judge_calls"] * 102e-6) for tally in tallies)
    assert not list(platform.data.glob("outside/*.sock"))
    written = [path for path in platform.data.rglob("*") if path.is_file()]
    assert not [path for path in written if scripted.key.encode() in path.read_bytes()]
