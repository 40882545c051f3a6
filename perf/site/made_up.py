"""Runs that never happened, for measuring: the same seed makes the same rows."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
BUDGET_S = 12 * 3600
PROTOCOLS = {
    "gsm8k": "gsm8k/1",
    "humaneval": "humaneval/1",
    "alpacaeval": "alpacaeval/1;judge=made-up",
    "alfworld": "alfworld/1",
    "webshop": "webshop/2",
    "deepsearchqa": "deepsearchqa/1;judge=made-up;search=made-up",
}
STACKS = [
    (agent, driver)
    for agent, drivers in {
        "claude-code": ("claude-opus-4-6", "claude-sonnet-4-5"),
        "codex": ("gpt-5.4", "gpt-5.2"),
        "opencode": ("gpt-5.4", "qwen3-coder"),
        "openhands": ("gpt-5.4", "claude-opus-4-6"),
        "gemini-cli": ("gemini-3-pro", "gemini-3-flash"),
    }.items()
    for driver in drivers
]
MODES = ("free", "sft-only", "rl-oriented")
BASES = {"Qwen/Qwen2.5-7B-Instruct": "a" * 64, "Qwen/Qwen3-8B-Base": "b" * 64, "Qwen/Qwen3-1.7B-Base": "c" * 64}
METHODS = (["SFT"], ["SFT", "GRPO"], ["SFT", "DPO"], ["RFT"], ["SFT", "merging"], ["GRPO"])


@dataclass(frozen=True)
class Offer:
    """One submission. `score` None: rejected."""

    number: int
    elapsed_s: float
    score: float | None
    methods: list[str]


@dataclass(frozen=True)
class Story:
    """One run with its submissions."""

    number: int
    agent: str
    driver: str
    mode: str
    task: str
    base: str
    began: datetime
    baseline: float
    offers: list[Offer] = field(default_factory=list)

    @property
    def slug(self) -> str:
        return f"{self.began:%Y%m%d-%H%M}-{self.number:06x}"

    @property
    def best(self) -> Offer | None:
        scored = [offer for offer in self.offers if offer.score is not None]
        return max(scored, key=lambda offer: (offer.score or 0.0, -offer.number), default=None)


def baseline_of(task: str, base: str) -> float:
    """The same for every run of a base model on a task."""
    return round(random.Random(f"{task} {base}").uniform(5, 70), 2)


def stories(runs: int, submissions: int, *, longest: int = 1000, seed: int = 7) -> Iterator[Story]:
    """`runs` runs with `submissions` submissions in all; the first one has `longest` of them."""
    chance = random.Random(seed)
    left = submissions - longest
    for number in range(runs):
        count = longest if number == 0 else left // (runs - number)
        if number:
            count = max(0, round(count * chance.uniform(0.4, 1.6))) if number < runs - 1 else left
            count = min(count, left)
            left -= count
        yield _story(number, count, chance)


def _story(number: int, count: int, chance: random.Random) -> Story:
    agent, driver = chance.choice(STACKS)
    task, base = chance.choice(list(PROTOCOLS)), chance.choice(list(BASES))
    baseline = baseline_of(task, base)
    story = Story(
        number=number,
        agent=agent,
        driver=driver,
        mode=chance.choice(MODES),
        task=task,
        base=base,
        began=BEGINNING + timedelta(minutes=20 * number),
        baseline=baseline,
    )
    talent = chance.uniform(-10, 30)
    for place in range(1, count + 1):
        share = place / (count + 1)
        score = min(100.0, max(0.0, baseline + talent * share + chance.gauss(0, 4)))
        refused = chance.random() < 0.1
        methods = METHODS[int(share * 3 + chance.random() * 3) % len(METHODS)]
        story.offers.append(Offer(place, BUDGET_S * share, None if refused else round(score, 2), methods))
    return story
