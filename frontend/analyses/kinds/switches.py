"""Method switches: how often they raised the best score, and where they stand on each run's path (figure 3)."""

from collections import Counter
from collections.abc import Sequence

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.published_stories import published_stories
from frontend.analyses.reading_rows import stack_title, stories_read
from frontend.board.known_tasks import task_title
from frontend.figures.multiples import Panel, multiples
from frontend.figures.series import top_of
from frontend.figures.style import Figure, token
from frontend.formats import gain, plural, score
from frontend.run_methods import method_class
from frontend.run_stories import RunStory
from traces.methods.switches import MethodSwitch

PANELS, ROWS = 6, 100


def build(asked: Asked) -> Analysis:
    stories, note = _stories(asked)
    known = [each for each in stories if each.labels]
    if not known:
        return Analysis(empty="No run that matches has submissions with known methods.")
    switched = sorted((each for each in known if each.switches), key=lambda each: (-len(each.switches), each.run.slug))
    changes = [switch for each in known for switch in each.switches]
    drawn = (switched or known)[:PANELS]
    return Analysis(
        reading=_reading(changes, len(known), len(switched)),
        tables=[_pairs(changes), _runs(switched[:ROWS])] if changes else [],
        figure=multiples([_panel(each) for each in drawn], "submission"),
        figure_title="The runs with most switches" if switched else "No run switched",
        panels=len(drawn),
        note=f"{note}A switch is a submission whose primary method differs from the one before. Green and upward: it "
        "raised the best score; red and downward: it did not, or had no score.",
        legend="switches",
    )


def _stories(asked: Asked) -> tuple[Sequence[RunStory], str]:
    if asked.published:
        own = [each for each in published_stories() if asked.filters.shows_task(each.standing.task)]
        return own, "The submissions that tables 19 and 20 print. "
    read = stories_read(asked)
    return read.stories, read.note


def _reading(changes: Sequence[MethodSwitch], runs: int, switched: int) -> str:
    good = sum(bool(switch.is_success) for switch in changes)
    if not changes:
        return f"None of {plural(runs, 'run')} switched its method"
    told = f"{good} of {len(changes)} method switch{'es' if len(changes) > 1 else ''} raised the best score"
    return f"{told}; {switched} of {plural(runs, 'run')} switched at all"


def _pairs(changes: Sequence[MethodSwitch]) -> Table:
    """How often each method followed another, and with what success."""
    counts = Counter((switch.before, switch.after) for switch in changes)
    good = Counter((switch.before, switch.after) for switch in changes if switch.is_success)
    rows = [
        [
            Cell(methods=[(before.value, method_class(before))]),
            Cell(methods=[(after.value, method_class(after))]),
            Cell(count),
            Cell(good[before, after]),
            Cell(round(good[before, after] / count, 4), f"{100 * good[before, after] / count:.0f}%"),
        ]
        for (before, after), count in counts.most_common()
    ]
    numbers = [Column(title, number=True) for title in ("Switches", "Raised the best", "Share")]
    return Table([Column("From"), Column("To"), *numbers], rows, "From one method to the next")


def _runs(stories: Sequence[RunStory]) -> Table:
    rows = []
    for each in stories:
        for switch in each.switches:
            jump = None if switch.score is None or switch.best_before is None else switch.score - switch.best_before
            rows.append(
                [
                    Cell(each.run.slug, link=f"/runs/{each.run.slug}/" if each.run.pk else ""),
                    Cell(task_title(each.standing.task)),
                    Cell(stack_title(each)),
                    Cell(switch.number),
                    Cell(methods=[(m.value, method_class(m)) for m in (switch.before, switch.after)]),
                    Cell(switch.score, score(switch.score)),
                    Cell(None if jump is None else round(jump, 4), gain(jump), state=_state(switch)),
                    Cell({True: "raised it", False: "did not", None: "no score"}[switch.is_success]),
                ]
            )
    head = [
        *(Column(title) for title in ("Run", "Task", "Agent stack")),
        Column("Submission", number=True),
        Column("From, to"),
        Column("Score", number=True),
        Column("Against the best before", "points", number=True),
        Column("Best score"),
    ]
    return Table(head, rows[:ROWS], "Each switch")


def _state(switch: MethodSwitch) -> str:
    return "up" if switch.is_success else "down"


def _panel(story: RunStory) -> Panel:
    end = max([each.number for each in story.attempts], default=1) + 0.5
    top = top_of([*(each.score or 0.0 for each in story.scored), story.standing.baseline or 0.0]) * 1.12
    good = sum(bool(switch.is_success) for switch in story.switches)
    return Panel(
        task_title(story.standing.task),
        f"{stack_title(story)}: {good} of {len(story.switches)}",
        _traces(story, end, top),
        end,
        top,
        shapes=[_line(switch, top) for switch in story.switches],
    )


def _line(switch: MethodSwitch, top: float) -> Figure:
    look = {"color": token("up" if switch.is_success else "down"), "width": 1.25}
    dash = {} if switch.is_success else {"dash": "3px,3px"}
    place = {"type": "line", "x0": switch.number, "x1": switch.number, "y0": 0, "y1": top * 0.95}
    return place | {"line": look | dash, "layer": "below"}


def _traces(story: RunStory, end: float, top: float) -> list[Figure]:
    scored, steps = story.scored, story.new_bests
    found: list[Figure] = []
    if story.standing.baseline is not None:
        base = {"x": [0, end], "y": [story.standing.baseline] * 2}
        look = {"color": token("ink-2"), "width": 1.25, "dash": "5px,4px"}
        found.append({"type": "scatter", "mode": "lines", "line": look, "hoverinfo": "skip"} | base)
    if steps:
        path = {"x": [*(e.number for e in steps), end], "y": [*(e.best for e in steps), steps[-1].best]}
        look = {"color": token("accent"), "width": 1.75, "shape": "hv"}
        found.append({"type": "scatter", "mode": "lines", "line": look, "hoverinfo": "skip"} | path)
    dots = {"x": [e.number for e in scored], "y": [e.score for e in scored]}
    ring = {"color": token("paper"), "size": 6, "line": {"color": token("ink-2"), "width": 1.25}}
    told = [f"#{each.number}, {each.primary.value}: {score(each.score)}" for each in scored]
    found.append({"type": "scatter", "mode": "markers", "marker": ring, "hovertext": told} | _hover() | dots)
    for up in (True, False):
        own = [switch for switch in story.switches if bool(switch.is_success) is up]
        shape = {"symbol": f"triangle-{'up' if up else 'down'}", "size": 9, "color": token("up" if up else "down")}
        marks = {"x": [switch.number for switch in own], "y": [top * 0.95 for _ in own]}
        words = [f"#{switch.number}: {switch.before.value} to {switch.after.value}" for switch in own]
        if own:
            found.append({"type": "scatter", "mode": "markers", "marker": shape, "hovertext": words} | _hover() | marks)
    return found


def _hover() -> Figure:
    return {"hovertemplate": "%{hovertext}<extra></extra>", "cliponaxis": False}


ANALYSIS = Kind(
    id="switches",
    title="Method switches",
    short="Method switches",
    about="A switch of method is a bet: it raises the best score, or it does not.",
    paper="Figure 3",
    place=40,
    build=build,
)
