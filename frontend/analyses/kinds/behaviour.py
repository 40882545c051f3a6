"""How agent stacks work: how often they submit, how much is scored, how often they switch (table 17)."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from frontend.agent_titles import agent_title
from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.reading_rows import stories_read
from frontend.board.known_tasks import task_title
from frontend.formats import DASH, clock, gain, plural
from frontend.published import behaviour
from frontend.run_stories import RunStory

Key = tuple[str, str, str]


def build(asked: Asked) -> Analysis:
    return _published() if asked.published else _live(asked)


def _published() -> Analysis:
    rows = [
        [
            Cell(each.agent),
            Cell(each.driver),
            Cell(each.submissions),
            Cell(each.style),
            Cell(each.best_gain, gain(each.best_gain)),
        ]
        for each in behaviour().styles
    ]
    few, many = sorted(behaviour().styles, key=lambda each: each.submissions)[:2]
    reading = (
        f"{few.submissions} submissions gain {gain(few.best_gain)}, {many.submissions} gain {gain(many.best_gain)}"
    )
    head = [Column("Agent"), Column("Driver"), Column("Submissions", number=True), Column("Style")]
    table = Table([*head, Column("Best gain", "points", number=True)], rows, caption="DeepSearchQA, Qwen3-8B-Base.")
    return Analysis(reading=reading, tables=[table])


def _live(asked: Asked) -> Analysis:
    read = stories_read(asked)
    stacks: dict[Key, list[RunStory]] = defaultdict(list)
    for each in read.stories:
        stacks[each.standing.task, each.run.agent, each.run.driver].append(each)
    if not stacks:
        return Analysis(empty="No run that matches has a submission.")
    rates = {key: median(_rate(each) for each in own) for key, own in stacks.items()}
    middle = median(rates.values())
    ordered = sorted(stacks.items(), key=lambda item: (item[0][0], -rates[item[0]]))
    rows = [_row(key, own, rates[key], middle) for key, own in ordered]
    numbers = (
        ("Runs", ""),
        ("Submissions", "median of a run"),
        ("An hour", "of the budget used"),
        ("Scored", "of all submissions"),
        ("Between two", "median time"),
        ("Switches", "of method, a run"),
        ("Best gain", "points"),
    )
    head = [
        *map(Column, ("Task", "Agent", "Driver")),
        *(Column(t, n, number=True) for t, n in numbers),
        Column("Style"),
    ]
    return Analysis(
        reading=_reading(stacks, rates),
        tables=[Table(head, rows)],
        note=f"{read.note}Style compares a stack’s submissions an hour with the median of all rows, {middle:.1f}: "
        "higher-frequency from half above it, lower-frequency from a third below it.",
    )


def _rate(story: RunStory) -> float:
    """Submissions an hour."""
    used = story.run.elapsed_s() or 0.0
    return story.total / (used / 3600) if used > 0 else 0.0


def _gap(story: RunStory) -> float | None:
    """Median seconds between two submissions."""
    times = [each.elapsed_s for each in story.attempts]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    return median(gaps) if gaps else None


def _row(key: Key, own: Sequence[RunStory], rate: float, middle: float) -> list[Cell]:
    ended, scored = sum(e.standing.submissions for e in own), sum(e.standing.scored for e in own)
    gains = [each.standing.improvement for each in own if each.standing.improvement is not None]
    best = max(gains, default=None)
    gaps = [gap for each in own if (gap := _gap(each)) is not None]
    labelled = [each for each in own if each.labels]
    switches = sum(len(each.switches) for each in labelled) / len(labelled) if labelled else None
    wait = median(gaps) if gaps else None
    return [
        Cell(task_title(key[0])),
        Cell(agent_title(key[1])),
        Cell(key[2]),
        Cell(len(own)),
        Cell(median(each.total for each in own)),
        Cell(round(rate, 4), f"{rate:.1f}"),
        Cell(round(scored / ended, 4) if ended else None, f"{100 * scored / ended:.0f}%" if ended else ""),
        Cell(None if wait is None else round(wait), "" if wait is None else clock(wait)),
        Cell(switches, "" if switches is None else f"{switches:.1f}"),
        Cell(best, gain(best) or DASH),
        Cell(style(rate, middle)),
    ]


def style(rate: float, middle: float) -> str:
    """How often a stack submits against the others."""
    if rate >= 1.5 * middle:
        return "higher-frequency"
    return "lower-frequency" if rate <= middle * 2 / 3 else "as the others"


def _reading(stacks: dict[Key, list[RunStory]], rates: dict[Key, float]) -> str:
    often, seldom = max(rates, key=lambda key: rates[key]), min(rates, key=lambda key: rates[key])
    runs = sum(len(own) for own in stacks.values())
    if len(rates) == 1:
        return f"{agent_title(often[1])} submits {rates[often]:.1f} times an hour, over {plural(runs, 'run')}"
    told = f"{agent_title(often[1])} on {task_title(often[0])} submits most often, {rates[often]:.1f} times an hour"
    return f"{told}; {agent_title(seldom[1])} on {task_title(seldom[0])} least, {rates[seldom]:.1f}"


ANALYSIS = Kind(
    id="behaviour",
    title="How agents work",
    short="Behaviour",
    about="How often each agent stack submits, how much of it is scored, how long it waits and how often it switches.",
    paper="Table 17",
    place=75,
    build=build,
)
