"""Which reinforcement-learning and preference methods were tried, whether they held, and what won (table 14)."""

from collections import defaultdict
from collections.abc import Sequence

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.reading_rows import stories_read
from frontend.board.known_tasks import task_place, task_title
from frontend.formats import plural
from frontend.published import behaviour
from frontend.run_methods import method_class
from frontend.run_stories import RunStory
from traces.methods.switches import best_submission
from traces.methods.words import POLICY_GRADIENT, PREFERENCE, Method

AUDITED = POLICY_GRADIENT | PREFERENCE | {Method.RFT}


def build(asked: Asked) -> Analysis:
    return _published(asked) if asked.published else _live(asked)


def _published(asked: Asked) -> Analysis:
    own = [each for each in behaviour().rl_audit if asked.filters.shows_task(each.task)]
    rows = []
    for each in own:
        tried = ", ".join(f"{t.method} ({t.variants} variants)" if t.variants else t.method for t in each.tried)
        rows.append([Cell(task_title(each.task)), Cell(tried), Cell(each.stable), Cell(each.best_pipeline)])
    stable = sum(each.stable.startswith("yes") for each in own)
    head = [Column("Task"), Column("Tried"), Column("Stable"), Column("Best pipeline")]
    reading = f"Reinforcement learning was tried on {plural(len(own), 'task')} and held fully on {stable}"
    return Analysis(reading=reading, tables=[Table(head, rows, caption="Claude Code, Claude Opus 4.6 (table 14).")])


def _live(asked: Asked) -> Analysis:
    read = stories_read(asked)
    by_task: dict[str, list[RunStory]] = defaultdict(list)
    for each in read.stories:
        if each.labels:
            by_task[each.standing.task].append(each)
    if not by_task:
        return Analysis(empty="No run that matches has submissions with known methods.")
    rows, held, tried = [], 0, 0
    for task in sorted(by_task, key=task_place):
        row, word = _row(task, by_task[task])
        rows.append(row)
        tried += word != ""
        held += word == "yes"
    head = [
        Column("Task"),
        Column("Tried", "submissions with it"),
        Column("Runs", "that tried one", number=True),
        Column("Scored", "of these submissions", number=True),
        Column("Above the baseline", "of the scored", number=True),
        Column("Stable"),
        Column("Best pipeline", "of the run with the highest score"),
    ]
    asserted = f"held on {held}" if tried else "not once"
    return Analysis(
        reading=f"RL or preference methods were tried on {tried} of {plural(len(rows), 'task')}, and {asserted}",
        tables=[Table(head, rows)],
        note=f"{read.note}Stable: yes where at least three of four of these submissions scored above the baseline, "
        "partly where at least one of four did, else no. A rejected submission counts as not having scored above.",
        legend="methods",
    )


def _row(task: str, stories: Sequence[RunStory]) -> tuple[list[Cell], str]:
    tried = [(each, attempt) for each in stories for attempt in each.attempts if AUDITED & set(attempt.methods)]
    counts = {m: sum(m in a.methods for _, a in tried) for m in Method if m in AUDITED}
    scored = [(each, attempt) for each, attempt in tried if attempt.score is not None]
    known = [(e, a) for e, a in scored if e.standing.baseline is not None]
    above = sum((a.score or 0.0) > (e.standing.baseline or 0.0) for e, a in known)
    word = verdict(above, len(tried)) if tried else ""
    top = max(stories, key=lambda each: each.score if each.score is not None else -1.0)
    best = best_submission(top.submitted)
    methods = [(f"{method.value} {count}", method_class(method)) for method, count in counts.items() if count]
    return [
        Cell(task_title(task)),
        Cell(None if methods else "none", methods=methods),
        Cell(len({each.run.pk for each, _ in tried})),
        Cell(len(scored)),
        Cell(above),
        Cell(word or "not tried"),
        Cell(methods=[(m.value, method_class(m)) for m in best.methods] if best else [], link=f"/runs/{top.run.slug}/"),
    ], word


def verdict(above: int, tried: int) -> str:
    share = above / tried if tried else 0.0
    return "yes" if share >= 0.75 else "partly" if share >= 0.25 else "no"


ANALYSIS = Kind(
    id="rl-audit",
    title="Reinforcement learning, tried and held",
    short="RL audit",
    about="Which RL and preference methods agents tried on each task, whether their checkpoints beat the base model, "
    "and what stands behind the best score.",
    paper="Table 14",
    place=70,
    build=build,
)
