"""Four public questions graded through the stand-alone runner: a checkpoint that really searches, documents on this
machine, and a scripted judge behind the socket."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from benchmark.gateway.process import Gateway
from benchmark.tasks.deepsearchqa import evaluator
from grading.contract import RunnerSpec
from grading.outside.judge import Judge, JudgeSettings
from grading.outside.search.configure import SearchSettings, open_search
from grading.outside.store import AnswerStore
from tests.support.judge import Reply, ScriptedJudge, completion, in_turn, prompt_text, says
from tests.support.web import ScriptedWeb, pages, searxng
from tests.unit.outside.test_search import HITS
from tests.unit.runner.checkpoints import llama

TASK = Path(evaluator.__file__).parent
ROOT = TASK.parents[2]
CONTEXT = 16_384
SEARCH, ANSWER = " I look it up.\nAction: search[certiorari denials December 15]", "86]"
LETTERS = [chr(code) for code in range(32, 127)] + ["\n", "…", "“", "”"]
DOCUMENTS = [
    ("Order list", "On December 15, 2014 the Supreme Court's order list had 86 certiorari denials."),
    ("Certiorari", "Certiorari denials are listed in orders of the Court."),
    ("Shoulder pain", "Hypermobility: pain, stiffness and poor balance and coordination."),
    ("Gun homicide", "Austria, Switzerland and Singapore had rates below 0.20 per 100,000."),
]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def searching_checkpoint(folder: Path) -> Path:
    """A model whose next token depends on the last one alone: after `:` a search, after `[` an answer, then the end.

    Embeddings are one-hot, attention and MLP add nothing, and the output matrix holds the successor of each token.
    """
    tokens = ["<pad>", "<bos>", "<eos>", *LETTERS, SEARCH, ANSWER]
    number = {token: index for index, token in enumerate(tokens)}
    core = Tokenizer(models.WordLevel(number, unk_token="?"))
    core.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    core.decoder = decoders.Fuse()
    special = {"pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "?"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **special)  # type: ignore[no-untyped-call]
    width = len(tokens) + len(tokens) % 2
    model: LlamaForCausalLM = llama(
        vocab_size=len(tokens),
        hidden_size=width,
        num_hidden_layers=1,
        num_attention_heads=1,
        num_key_value_heads=1,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
    )
    after = {":": SEARCH, "[": ANSWER}
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.fill_(1.0 if "norm" in name else 0.0)
        model.model.embed_tokens.weight[:] = torch.eye(len(tokens), width)
        for token, index in number.items():
            model.lm_head.weight[number[after.get(token, "<eos>")], index] = 1.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def fair(request: Mapping[str, Any]) -> Reply | None:
    """A judge that looks for each reference item in the response."""
    found = re.search(
        r"Kind: (.+)\n\nReference answer: (.+)\n\nThe response:\n(===.+)\n(.*)\n\3", prompt_text(request), re.S
    )
    assert found is not None
    kind, reference, _, response = found.groups()
    items = [reference] if kind == "Single Answer" else reference.split(", ")
    details = {item: item.lower() in response.lower() for item in items}
    extra = [] if any(details.values()) else [response]
    told = {"explanation": "looked", "correctness_details": details, "excessive_answers": extra}
    return completion(f"```json\n{json.dumps(told)}\n```")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return searching_checkpoint(tmp_path_factory.mktemp("searching"))


@pytest.fixture(scope="module")
def held_out(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held_out")
    rows = [json.loads(line) for line in (shared_data / "deepsearchqa" / "sample_with_gold.jsonl").open()]
    (folder / "questions.jsonl").write_text("".join(json.dumps({"id": r["qid"], **r}) + "\n" for r in rows))
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> SearchSettings:
    path = tmp_path / "documents.jsonl"
    rows = [{"title": t, "url": f"https://example.org/{n}", "text": x} for n, (t, x) in enumerate(DOCUMENTS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return SearchSettings(backend="corpus", url=str(path))


class Grading:
    """Grades one checkpoint on the same questions, again and again into the same folder."""

    def __init__(self, checkpoint: Path, held_out: Path, folder: Path) -> None:
        self.folder = folder
        self.spec = RunnerSpec(
            protocol="deepsearchqa/1;judge=scripted;search=corpus",
            task_dir=str(TASK),
            held_out=str(held_out),
            checkpoint=str(checkpoint),
            reference=str(checkpoint),
            batch_size=4,
            max_model_len=CONTEXT,
            threads=1,
            outside=str(folder / "outside.sock"),
        )

    def grade(self, scripted: ScriptedJudge, search: SearchSettings, out: str = "out") -> dict[str, Any]:
        settings = JudgeSettings(url=scripted.url, model=scripted.model, key=scripted.key)
        judge = Judge(settings, AnswerStore(self.folder / "judge"))
        self.desk = open_search(search, self.folder / "search")
        path = self.folder / "spec.json"
        path.write_text(json.dumps(asdict(self.spec)))
        command = [sys.executable, "-m", "grading.runner", str(path), str(self.folder / out)]
        with Gateway(socket=self.folder / "outside.sock", routes=[judge.route(), self.desk.route()]):
            ended = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300)
        assert ended.returncode == 0, ended.stderr[-3000:]
        told: dict[str, Any] = json.loads((self.folder / out / "verdict.json").read_text())
        return told

    def samples(self, out: str = "out") -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / out / "samples.jsonl").read_text().splitlines()]


@pytest.fixture
def grading(checkpoint: Path, held_out: Path, tmp_path: Path) -> Grading:
    return Grading(checkpoint, held_out, tmp_path)


def test_questions_are_searched_answered_and_judged(grading: Grading, corpus: SearchSettings) -> None:
    with ScriptedJudge(fair) as scripted:
        verdict = grading.grade(scripted, corpus)
        assert (verdict["fault"], verdict["finding"]) == (None, None)
        assert (verdict["score"], verdict["n_scored"]) == (25.0, 4)
        assert verdict["protocol"] == "deepsearchqa/1;judge=scripted;search=corpus"
        assert verdict["metrics"]["mean_searches"] == 5
        assert verdict["metrics"]["forced_answer_percent"] == 100
        assert verdict["metrics"]["reference_accuracy"] == 25
        assert verdict["metrics"]["fully_incorrect_percent"] == 75
        by_id = {sample["item_id"]: sample for sample in grading.samples()}
        right = by_id["dsqa_028"]
        assert (right["reward"], right["answer"]) == (1.0, "86")
        assert right["outputs"] == [SEARCH] * 5 + [ANSWER]
        assert "had 86 certiorari denials" in right["facts"]["steps"][0]["observation"]
        assert by_id["dsqa_004"]["facts"]["ruling"]["details"] == dict.fromkeys(
            ["Austria", "Switzerland", "Singapore"], False
        )
        asked = len(scripted.requests)
        # Graded anew, the judge and the web are those of the first time.
        again = grading.grade(scripted, SearchSettings(**{**asdict(corpus), "mode": "replay-only"}), out="again")
    assert len(scripted.requests) == asked == 4
    assert grading.desk.counts.cache_hits == 20
    assert again["samples_sha256"] == verdict["samples_sha256"]


def test_a_search_that_is_down_is_a_fault_and_the_next_attempt_goes_on(grading: Grading) -> None:
    with ScriptedJudge(fair) as scripted, ScriptedWeb(lambda _: Reply({}, 503)) as web:
        search = SearchSettings(backend="searxng", url=web.url, patience_s=0.5)
        verdict = grading.grade(scripted, search)
        assert (verdict["score"], verdict["fault"], verdict["finding"]["code"]) == (None, "infra", "I_PROVIDER")
        assert "The search (searxng) answered 503" in verdict["finding"]["message"]
        web.behave = pages(searxng, HITS)
        verdict = grading.grade(scripted, replace(search, patience_s=60.0))
    assert (verdict["score"], verdict["n_scored"]) == (25.0, 4)


def test_a_judge_that_talks_nonsense_is_a_fault_until_it_does_not(grading: Grading, corpus: SearchSettings) -> None:
    with ScriptedJudge(says("It is correct.")) as scripted:
        verdict = grading.grade(scripted, corpus)
        assert (verdict["score"], verdict["finding"]["code"]) == (None, "I_PROVIDER")
        assert "cannot be read" in verdict["finding"]["message"]
        scripted.behave = in_turn([], fair)
        assert grading.grade(scripted, corpus)["score"] == 25.0
