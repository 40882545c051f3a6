"""A small grading server for one run of an agent: it loads what is submitted and plays the task's own evaluator.

Run as a program it grades the base model, runs the example agent against itself and prints the scores as JSON.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from benchmark.tasks.arithmetic.data import prepare
from benchmark.tasks.arithmetic.evaluator import evaluator
from benchmark.tasks.contract import Completion, FinishReason, Metrics, Prompt, Record
from benchmark.tasks.data_contract import DataTarget
from tests.support.serving import LocalServer

AGENT = Path(__file__).parents[3] / "benchmark" / "agents" / "example"
BATCH = 125


@torch.no_grad()
def complete(model: Any, tokenizer: Any, prompts: list[Prompt]) -> list[Completion]:
    """Greedy completions of raw-text prompts that share their token limit."""
    inputs = tokenizer([prompt.text for prompt in prompts], return_tensors="pt", padding=True, padding_side="left")
    inputs.pop("token_type_ids", None)
    made = model.generate(**inputs.to(model.device), do_sample=False, max_new_tokens=prompts[0].max_tokens)
    completions = []
    for prompt, row in zip(prompts, made[:, inputs["input_ids"].shape[1] :].tolist(), strict=True):
        ended = tokenizer.eos_token_id in row
        tokens = row.index(tokenizer.eos_token_id) if ended else len(row)
        text = tokenizer.decode(row[:tokens])
        cut = min((text.index(stop) for stop in prompt.stop if stop in text), default=None)
        reason: FinishReason = "stop" if ended or cut is not None else "length"
        completions.append(Completion(text[:cut], tokens, reason))
    return completions


def grade(checkpoint: Path, held_out: Path, limit: int | None = None) -> Metrics:
    """The task's score of a checkpoint folder on the first `limit` items."""
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model: Any = AutoModelForCausalLM.from_pretrained(checkpoint, dtype="auto")
    judge = evaluator()
    items = judge.items(held_out)[:limit]
    records: list[Record] = []
    for start in range(0, len(items), BATCH):
        part = items[start : start + BATCH]
        episodes = [judge.episode(item) for item in part]
        completions = complete(model, tokenizer, [next(episode) for episode in episodes])
        for item, episode, completion in zip(part, episodes, completions, strict=True):
            try:
                episode.send(completion)
            except StopIteration as end:
                outcome = end.value
            records.append(
                Record(
                    item_id=item.id,
                    prompt_sha256="",
                    outputs=(completion.text,),
                    answer=outcome.answer,
                    reward=outcome.reward,
                    tokens=completion.tokens,
                    finish_reason=completion.finish_reason,
                    facts=outcome.facts,
                )
            )
    return judge.metrics(records)


class GradingServer(LocalServer):
    """Answers `/submit` and `/time` as the platform does; `submissions` is what was offered, in order."""

    def __init__(self, held_out: Path, baseline: float, *, budget_s: float = 900, limit: int | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.held_out, self.baseline, self.limit = held_out, baseline, limit
        self.budget_s, self.began = budget_s, time.time()
        self.refuse: set[int] = set()
        """Numbers of the submissions that are rejected whatever they are."""
        self.submissions: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def submit(self, path: str) -> tuple[int, dict[str, Any]]:
        number = len(self.submissions) + 1
        answer: dict[str, Any] = {"submission_id": number, "model_path": path, "baseline_score": self.baseline}
        if number in self.refuse:
            answer |= {"score": None, "error": "Refused for the test.", "code": "E_TEST", "fix": "Submit another."}
        else:
            score = grade(Path(path), self.held_out, self.limit).score
            answer |= {"score": score, "improvement": score - self.baseline}
        self.submissions.append(answer)
        return (200 if answer["score"] is not None else 422), answer

    def time_left(self) -> dict[str, Any]:
        return {"timeout_s": self.budget_s, "remaining": max(0.0, self.began + self.budget_s - time.time())}


class _Handler(BaseHTTPRequestHandler):
    server: GradingServer

    def do_GET(self) -> None:
        self._answer(*((200, self.server.time_left()) if self.path == "/time" else (404, {"error": "unknown"})))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(*self.server.submit(body["model_path"]))

    def _answer(self, status: int, content: Mapping[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Silent."""


@contextmanager
def serving(server: GradingServer) -> Iterator[GradingServer]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def agent_environment(folder: Path, base: Path, server: GradingServer, **more: str) -> dict[str, str]:
    """What the platform gives an agent, for a workspace below `folder`, where the data is in `visible`."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHON": sys.executable,
        "TASK": "arithmetic",
        "BASE_MODEL": "tiny",
        "WORKSPACE": str(folder / "workspace"),
        "MODEL_PATH": str(base),
        "DATA_PATH": str(folder / "visible"),
        "OUTPUT_DIR": str(folder / "workspace" / "output"),
        "GRADING_SERVER_URL": server.url,
        **{name: os.environ[name] for name in ("OMP_NUM_THREADS", "PYTHONPATH") if name in os.environ},
        **more,
    }


def make_data(folder: Path) -> DataTarget:
    target = DataTarget(folder / "visible", folder / "held_out")
    for path in (target.visible, target.held_out):
        path.mkdir(parents=True)
    prepare(target)
    return target


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("--mode", default="free")
    parser.add_argument("--recipe", default="{}")
    parser.add_argument("--budget", type=float, default=900)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        data = make_data(folder)
        baseline = grade(given.base, data.held_out)
        began = time.time()
        with serving(GradingServer(data.held_out, baseline.score, budget_s=given.budget)) as server:
            environment = agent_environment(
                folder, given.base.resolve(), server, MODE=given.mode, RECIPE=given.recipe, BUDGET_S=str(given.budget)
            )
            ended = subprocess.run(["bash", str(AGENT / "start.sh")], env=environment, check=False)
        scores = [submission["score"] for submission in server.submissions]
        print(json.dumps({"recipe": given.recipe, "base": baseline.score, "extra": dict(baseline.extra)}), flush=True)
        print(json.dumps({"scores": scores, "wall_s": round(time.time() - began), "exit": ended.returncode}))


if __name__ == "__main__":
    main()
