"""One run, submission by submission: what each step changed and what it gained (tables 19 and 20)."""

from collections.abc import Sequence
from itertools import pairwise

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.published_stories import notes_of, published_stories
from frontend.analyses.reading_rows import stack_title
from frontend.bad_query import BadQuery
from frontend.board.known_tasks import task_title
from frontend.figures.series import top_of
from frontend.figures.style import Figure, axis, layout, token
from frontend.formats import clock, gain, plural, score
from frontend.run_methods import method_class
from frontend.run_stories import Attempt, RunStory, run_stories
from grading.models import TaskStanding
from traces.models import MethodLabel

OFFERED, STEPS = 12, 40


def build(asked: Asked) -> Analysis:
    story, others = _chosen(asked)
    if story is None:
        return Analysis(empty="No run that matches has a scored submission.")
    steps = [each for each in story.new_bests if asked.choices["steps"] == "new bests"] or story.scored
    shown = steps[:STEPS]
    notes = _notes(story, asked.published)
    return Analysis(
        reading=_reading(story),
        tables=[_table(story, shown, notes, published=asked.published)],
        figure=_figure(story, shown),
        figure_title=f"{stack_title(story)} on {task_title(story.standing.task)}, {story.run.base_model}",
        panels=1,
        note="Jump: the score minus the score of the step before it in the table. ★ marks the two largest. "
        + (f"The first {STEPS} of {len(steps)} steps." if len(steps) > STEPS else ""),
        legend="methods",
        links=[(name, link, one == (story.run.slug, story.standing.task)) for name, link, one in others],
    )


Offer = tuple[str, str, tuple[str, str]]


def _chosen(asked: Asked) -> tuple[RunStory | None, list[Offer]]:
    """The run asked for, else the one with the largest gain. Raises: BadQuery: it does not match."""
    wanted = asked.choices["run"]
    if asked.published:
        stories = [e for e in published_stories() if asked.filters.shows_task(e.standing.task)]
    else:
        rows = TaskStanding.objects.filter(asked.where, scored__gt=0).select_related("run")
        top = list(rows.order_by("-value", "-run_id")[:OFFERED]) if not wanted else []
        if wanted:
            top = list(rows.filter(run__slug=wanted))
        top.sort(key=lambda row: -(row.improvement if row.improvement is not None else -1e9))
        chosen = top[0] if top else None
        offers = [_offer(row.run.slug, row.task, "") for row in top]
        if wanted and chosen is None:
            raise BadQuery("run", f"No run {wanted} with a score matches the filter.")
        return (run_stories([chosen])[0] if chosen else None), offers
    named = next((each for each in stories if wanted in ("", each.run.slug)), None)
    if named is None and wanted:
        raise BadQuery("run", f"The paper has no walkthrough “{wanted}”.")
    return named, [_offer(each.run.slug, each.standing.task, "&origin=published") for each in published_stories()]


def _offer(slug: str, task: str, more: str) -> Offer:
    return f"{task_title(task)}, {slug}", f"?run={slug.replace(' ', '+')}{more}", (slug, task)


def _notes(story: RunStory, published: bool) -> dict[int, tuple[str, str]]:
    """Script and what was done, by submission: printed, or from the evidence of the label."""
    if published:
        pairs = zip(story.attempts, notes_of(story.standing.task), strict=True)
        return {attempt.number: note for attempt, note in pairs}
    rows = MethodLabel.objects.filter(run=story.run).order_by("id").values_list("number", "findings", "reason")
    found = {}
    for number, findings, reason in rows:
        last = findings[-1] if findings else {}
        found[number] = (str(last.get("file", "")), reason or str(last.get("why", "")))
    return found


def _jumps(steps: Sequence[Attempt]) -> dict[int, float]:
    """By submission, against the step before."""
    pairs = pairwise(steps)
    return {later.number: (later.score or 0.0) - (earlier.score or 0.0) for earlier, later in pairs}


def _table(story: RunStory, steps: Sequence[Attempt], notes: dict[int, tuple[str, str]], *, published: bool) -> Table:
    jumps, baseline = _jumps(steps), story.standing.baseline
    largest = set(sorted((at for at in jumps if jumps[at] > 0), key=lambda at: -jumps[at])[:2])
    rows = []
    for each in steps:
        over = None if baseline is None or each.score is None else round(each.score - baseline, 4)
        jump = round(jumps[each.number], 4) if each.number in jumps else None
        script, note = notes.get(each.number, ("", ""))
        link = "" if published else f"/runs/{story.run.slug}/submissions/#s{each.number}"
        rows.append(
            [
                Cell(each.number, link=link),
                Cell(None if published else round(each.elapsed_s), "" if published else clock(each.elapsed_s)),
                Cell(methods=[(method.value, method_class(method)) for method in each.methods]),
                Cell(script),
                Cell(each.score, score(each.score)),
                Cell(jump, gain(jump), mark="star" if each.number in largest else ""),
                Cell(over, gain(over)),
                Cell(note),
            ]
        )
    numbers = [Column("Score", number=True), Column("Jump", "points", number=True)]
    base = f"baseline {score(baseline)}" if baseline is not None else ""
    head = [Column("#", "submission", number=True), Column("Elapsed", number=True), Column("Method"), Column("Script")]
    return Table([*head, *numbers, Column("Gain", base, number=True), Column("What it did")], rows)


def _figure(story: RunStory, steps: Sequence[Attempt]) -> Figure:
    """Bars from zero, filled where the method is reinforcement learning, with the baseline across."""
    looks = {"rl": token("rl"), "pref": token("paper-3"), "merge": token("paper"), "": token("paper-2")}
    names = [f"#{each.number}" for each in steps]
    bars = {
        "type": "bar",
        "x": names,
        "y": [each.score for each in steps],
        "marker": {
            "color": [looks[method_class(each.primary)] for each in steps],
            "line": {"color": token("edge"), "width": 1},
        },
        "text": [f"{score(each.score)}<br>{each.primary.value}" for each in steps],
        "textposition": "outside",
        "textfont": {"size": 12, "color": token("ink-2")},
        "cliponaxis": False,
        "hovertemplate": "%{x}: %{y:.2f}<extra></extra>",
    }
    base = story.standing.baseline
    line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": base, "y1": base}
    look = {"line": {"color": token("ink-2"), "width": 1.25, "dash": "5px,4px"}}
    return {
        "data": [bars],
        "layout": layout(
            margin={"l": 36, "r": 12, "t": 28, "b": 28},
            xaxis=axis(type="category", showgrid=False),
            yaxis=axis(range=[0, top_of([each.score or 0.0 for each in steps]) * 1.15], nticks=5),
            shapes=[line | look] if base is not None else [],
            bargap=0.45,
        ),
    }


def _reading(story: RunStory) -> str:
    """The largest jump among new bests, and its share of the way."""
    steps = story.new_bests
    jumps = _jumps(steps)
    task, best = task_title(story.standing.task), steps[-1]
    if not jumps:
        return f"{task}: the first score, {score(best.score)}, stayed the best of {plural(story.total, 'submission')}"
    at = max(jumps, key=lambda number: jumps[number])
    way = (best.score or 0.0) - (steps[0].score or 0.0)
    method = next(each.primary.value for each in steps if each.number == at)
    told = f"{task}: the largest jump, {gain(jumps[at])}, came with submission {at} ({method})"
    return f"{told}, {100 * jumps[at] / way:.0f}% of the way from {score(steps[0].score)} to {score(best.score)}"


ANALYSIS = Kind(
    id="walkthroughs",
    title="Submission walkthroughs",
    short="Walkthroughs",
    about="One run step by step: what each submission changed, and what that gained.",
    paper="Tables 19 and 20",
    place=90,
    build=build,
    choices={"steps": ("new bests", "all scored"), "run": ()},
    choice_titles={"steps": "Steps"},
)
