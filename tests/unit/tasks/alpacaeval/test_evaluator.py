"""Episodes and metrics, with the runner's own checks left to the journey."""

import pytest

from benchmark.tasks.alpacaeval.evaluator import AlpacaEval, doubts, evaluator
from benchmark.tasks.contract import Completion, Item, Outcome, Prompt, Record
from benchmark.tasks.data_contract import DataTarget
from benchmark.tasks.services_contract import ServiceFault
from tests.support.judge import Behaviour, completion, says
from tests.unit.tasks.alpacaeval.published import Published
from tests.unit.tasks.alpacaeval.test_judging import Served, blocks


@pytest.fixture
def task(target: DataTarget) -> tuple[AlpacaEval, list[Item]]:
    made = evaluator()
    return made, list(made.items(target.held_out))


def play(task: AlpacaEval, item: Item, text: str, behave: Behaviour) -> tuple[Prompt, Outcome, Served]:
    served = Served(behave)
    task.connect(served)
    episode = task.episode(item)
    prompt = next(episode)
    with pytest.raises(StopIteration) as end:
        episode.send(Completion(text, 5, "stop"))
    return prompt, end.value.value, served


def record(item: Item, outcome: Outcome) -> Record:
    return Record(item.id, "0" * 64, (str(outcome.answer),), outcome.answer, outcome.reward, 5, "stop", outcome.facts)


def judged(item: Item, preference: float, length: int, *, output: str | None = None, weighted: bool = True) -> Record:
    facts = {
        "weighted": preference if weighted else None,
        "discrete": float(round(preference)),
        "orders_agree": True,
        "identical": False,
        "length": length,
        "baseline_length": len(item.payload["output"]),
        "difficulty": item.payload["difficulty"],
        "addresses_judge": [],
    }
    text = output if output is not None else f"{item.id} answered"
    return record(item, Outcome(preference, text, facts))


def test_an_instruction_is_one_user_message(task: tuple[AlpacaEval, list[Item]]) -> None:
    made, items = task
    assert len(items) == 805
    prompt, outcome, served = play(made, items[0], "Ethel Merman.", says("A"))
    assert [(turn.role, turn.content) for turn in prompt.messages] == [("user", items[0].payload["instruction"])]
    assert prompt.max_tokens == 512
    assert blocks(served.asked[0][0])["response A"] == items[0].payload["output"]
    assert (outcome.reward, outcome.facts["discrete"], outcome.facts["orders_agree"]) == (0.5, 0.5, False)
    assert outcome.facts["length"] == len("Ethel Merman.")


def test_the_baselines_own_output_is_a_draw_without_a_call(task: tuple[AlpacaEval, list[Item]]) -> None:
    made, items = task
    _, outcome, served = play(made, items[3], items[3].payload["output"], says("nonsense"))
    assert served.asked == []
    assert outcome.reward == 0.5


def test_the_baseline_against_itself_has_exactly_50(task: tuple[AlpacaEval, list[Item]]) -> None:
    made, items = task
    records = [record(item, play(made, item, item.payload["output"], says(""))[1]) for item in items]
    told = made.metrics(records)
    assert (told.score, told.extra["win_rate"], told.extra["discrete_win_rate"]) == (50, 50, 50)
    assert (told.extra["n_judged"], told.extra["n_draws"], told.extra["standard_error"]) == (0, 805, 0)
    assert [flag.code for flag in told.flags] == ["W_LC_APPROXIMATE"]


def test_a_judge_that_makes_no_sense_is_a_fault(task: tuple[AlpacaEval, list[Item]]) -> None:
    made, items = task
    made.connect(Served(says("I cannot decide.")))
    episode = made.episode(items[0])
    next(episode)
    with pytest.raises(ServiceFault):
        episode.send(Completion("", 0, "length"))


def test_published_judgements_give_the_published_numbers(
    task: tuple[AlpacaEval, list[Item]], published: Published
) -> None:
    made, items = task
    rows = published.annotations["claude"]
    told = made.metrics([judged(item, row.preference, row.length) for item, row in zip(items, rows, strict=True)])
    board = published.board["claude"]
    assert told.extra["win_rate"] == pytest.approx(float(board["win_rate"]), abs=1e-6)
    assert told.extra["win_rate_standard_error"] == pytest.approx(float(board["standard_error"]), abs=1e-6)
    assert told.extra["discrete_win_rate"] == pytest.approx(float(board["discrete_win_rate"]), abs=1e-6)
    assert told.extra["mean_length"] == pytest.approx(float(board["avg_length"]), abs=1)
    assert told.score == pytest.approx(float(board["length_controlled_winrate"]), abs=2.8)
    assert told.extra["n_judged"] == 805


def test_the_null_model_is_flagged_beside_its_score(task: tuple[AlpacaEval, list[Item]], published: Published) -> None:
    made, items = task
    rows = published.annotations["NullModel"]
    told = made.metrics(
        [judged(item, row.preference, row.length, output="x" * 872) for item, row in zip(items, rows, strict=True)]
    )
    assert told.score > 80
    assert "F_CONSTANT_OUTPUT" in [flag.code for flag in told.flags]
    assert told.extra["constant_output_percent"] == 100


def test_a_missing_probability_makes_every_preference_discrete(task: tuple[AlpacaEval, list[Item]]) -> None:
    made, items = task
    records = [judged(item, 0.9, 100) for item in items[:9]]
    assert made.metrics(records).extra["win_rate"] == pytest.approx(90)
    told = made.metrics([*records, judged(items[9], 0.9, 100, weighted=False)])
    assert (told.extra["win_rate"], told.extra["preferences_are_weighted"]) == (100, 0)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_few_instructions_have_numbers_too(task: tuple[AlpacaEval, list[Item]], n: int) -> None:
    made, items = task
    told = made.metrics([judged(item, 0.25, 100) for item in items[:n]])
    assert 0 <= told.score <= 100
    assert all(value is None or value == value for value in told.extra.values())


@pytest.mark.parametrize(
    ("raw", "controlled", "told"),
    [(20, 39, False), (20, 41, True), (20, 9, True), (20, 11, False), (60, 69, False), (60, 71, True), (60, 44, True)],
)
def test_a_rate_far_from_the_raw_one_is_told(raw: float, controlled: float, told: bool) -> None:
    assert [flag.code for flag in doubts([], raw, controlled)] == (["W_LC_SHIFT"] if told else [])


def test_probabilities_arrive_in_the_record(task: tuple[AlpacaEval, list[Item]]) -> None:
    made, items = task
    _, outcome, _ = play(made, items[0], "x", lambda _: completion("B", probabilities={"B": 0.7, "A": 0.3}))
    assert outcome.facts["weighted"] == pytest.approx(0.5)
