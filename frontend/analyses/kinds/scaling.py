"""How the best score grows with hours, tokens and submissions (figures 2 and 6)."""

from collections import defaultdict
from collections.abc import Sequence

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.published_stories import published_stories
from frontend.analyses.reading_rows import stack_title, stories_read
from frontend.board.known_tasks import level_of, task_place, task_title
from frontend.figures.multiples import Panel, multiples
from frontend.figures.series import line, ring, top_of
from frontend.figures.style import Figure, token
from frontend.formats import clock, gain, plural, score
from frontend.published import behaviour
from frontend.run_stories import Attempt, RunStory

LINES, PANELS = 8, 12
UNITS = {"hours": ("hours elapsed", 3600.0), "tokens": ("million tokens", 1e6), "submissions": ("submission", 1.0)}
LEVELS = {"interactive": ("L3",), "static": ("L1", "L2")}


def build(asked: Asked) -> Analysis:
    x = asked.choices["x"]
    stories, note = _stories(asked)
    kinds = asked.choices["kind"]
    stories = [each for each in stories if kinds == "all" or level_of(each.standing.task) in LEVELS[kinds]]
    by_task: dict[str, list[RunStory]] = defaultdict(list)
    for each in stories:
        if _steps(each, x):
            by_task[each.standing.task].append(each)
    if not by_task:
        why = "The paper prints no hours or tokens of single submissions." if asked.published else ""
        return Analysis(empty=why or f"No run that matches has a scored submission with known {x}.")
    tasks = sorted(by_task, key=task_place)[:PANELS]
    shown = {task: sorted(by_task[task], key=lambda e: -(e.score or 0.0))[:LINES] for task in tasks}
    top = max(top_of([a.best or 0.0 for e in stories for a in e.new_bests]), 1.0)
    panels = [_panel(task, shown[task], x, top if asked.choices["y"] == "shared" else None) for task in tasks]
    return Analysis(
        reading=_printed_reading() if asked.published else _reading([e for own in shown.values() for e in own], x),
        tables=[_table(shown, x)],
        figure=multiples(panels, UNITS[x][0]),
        figure_title={"all": "", "static": "Static tasks (L1, L2)", "interactive": "Interactive tasks (L3)"}[kinds],
        panels=len(panels),
        note=f"{note}Line: best score so far; ring: the submission that reached the final best; dashed: base model as "
        f"given. At most {LINES} runs a panel, the highest first. With own scales compare shapes, not heights. What "
        "was not scored counts on the horizontal axis only.",
    )


def _stories(asked: Asked) -> tuple[Sequence[RunStory], str]:
    if asked.published:
        return [each for each in published_stories() if asked.filters.shows_task(each.standing.task)], (
            "The submissions that tables 19 and 20 print; not every one of the run’s. "
        )
    read = stories_read(asked, methods=False)
    return read.stories, read.note


def _value(attempt: Attempt, x: str) -> float | None:
    value = {"hours": attempt.elapsed_s, "tokens": attempt.tokens, "submissions": attempt.number}[x]
    return None if value is None or value < 0 else value / UNITS[x][1]


def _steps(story: RunStory, x: str) -> list[tuple[float, Attempt]]:
    return [(at, each) for each in story.new_bests if (at := _value(each, x)) is not None]


def _end(story: RunStory, x: str) -> float:
    last = max([at for each in story.attempts if (at := _value(each, x)) is not None], default=0.0)
    used = (story.run.elapsed_s() or 0.0) / 3600 if x == "hours" else (story.run.tokens or 0) / 1e6
    return max(last, used) if x != "submissions" else last


def _panel(task: str, stories: Sequence[RunStory], x: str, top: float | None) -> Panel:
    x_end = max(_end(each, x) for each in stories) * 1.02 or 1.0
    baseline = stories[0].standing.baseline
    highest = top_of([*(a.best or 0.0 for e in stories for a in e.new_bests), baseline or 0.0])
    traces = [trace for place, each in enumerate(stories, 1) for trace in _curve(each, place, x)]
    if baseline is not None:
        look = {"color": token("ink-2"), "width": 1.25, "dash": "5px,4px"}
        base = {"type": "scatter", "mode": "lines", "x": [0, x_end], "y": [baseline, baseline]}
        traces.insert(0, base | {"line": look, "hoverinfo": "skip"})
    first = stories[0]
    number = first.standing.best_number
    # Of a published run not every submission is printed.
    of = f" of {first.total}" if number and number <= first.total else ""
    at = f"best at {number}{of}" if number else ""
    note = at if len(stories) == 1 else plural(len(stories), "run")
    return Panel(task_title(task), note, traces, x_end, top or highest)


def _curve(story: RunStory, place: int, x: str) -> list[Figure]:
    steps = _steps(story, x)
    end = max(_end(story, x), steps[-1][0])
    told = f"{stack_title(story)}, {story.run.get_mode_display()}"
    curve = {
        "type": "scatter",
        "mode": "lines",
        "x": [*(at for at, _ in steps), end],
        "y": [*(each.best for _, each in steps), steps[-1][1].best],
        "line": line(place, 1.75),
        "hoverinfo": "skip",
    }
    dot = {
        "type": "scatter",
        "mode": "markers",
        "x": [steps[-1][0]],
        "y": [steps[-1][1].best],
        "marker": ring(place, 8),
        "cliponaxis": False,
        "hovertext": [f"{_plain(told)}: {score(steps[-1][1].best)} at #{steps[-1][1].number}"],
        "hovertemplate": "%{hovertext}<extra></extra>",
    }
    return [curve, dot]


def _plain(text: str) -> str:
    return text.replace("<", "‹").replace(">", "›").replace("&", "+")


def _reading(stories: Sequence[RunStory], x: str) -> str:
    """Where along each run its best was reached: early, or at the end."""
    shares: dict[bool, list[float]] = {True: [], False: []}
    for each in stories:
        steps, end = _steps(each, x), _end(each, x)
        if steps and end > 0:
            shares[level_of(each.standing.task) == "L3"].append(steps[-1][0] / end)
    told = [
        f"{name} tasks {100 * sorted(values)[len(values) // 2]:.0f}%"
        for name, values in (("interactive", shares[True]), ("static", shares[False]))
        if values
    ]
    word = {"hours": "time", "tokens": "tokens", "submissions": "submissions"}[x]
    return f"Half of the runs had reached their best by this share of their {word}: {', '.join(told)}"


def _printed_reading() -> str:
    """From table 11: after which share of a run's submissions its best came."""
    shares: dict[bool, list[float]] = {True: [], False: []}
    for each in behaviour().workspaces:
        shares[level_of(each.task) == "L3"].append(each.best_at / each.submissions)
    interactive, static = (100 * sorted(shares[name])[1] for name in (True, False))
    told = f"after {interactive:.0f}% of their submissions on interactive tasks, {static:.0f}% on static ones"
    return f"The paper’s runs reached their best {told} (medians of table 11)"


def _table(shown: dict[str, list[RunStory]], x: str) -> Table:
    head = [
        *(Column(title) for title in ("Task", "Agent stack", "Mode", "Run")),
        *(Column(title, number=True) for title in ("Submissions", "Best", "Gain")),
        Column("Best at", "submission", number=True),
        Column("Best at", "time since the start", number=True),
        Column("New bests", "times the best rose", number=True),
    ]
    rows = []
    for task, stories in shown.items():
        for each in stories:
            standing, last = each.standing, each.new_bests[-1]
            link = "" if each.run.pk is None else f"/runs/{each.run.slug}/"
            rows.append(
                [
                    Cell(task_title(task)),
                    Cell(stack_title(each)),
                    Cell(str(each.run.get_mode_display())),
                    Cell(each.run.slug, link=link),
                    Cell(each.total),
                    Cell(last.best, score(last.best)),
                    Cell(standing.improvement if each.run.pk else None, gain(_gain(each)), state=""),
                    Cell(last.number),
                    Cell(None if each.run.pk is None else round(last.elapsed_s), _clock(each, last)),
                    Cell(len(each.new_bests)),
                ]
            )
    return Table(head, rows)


def _gain(story: RunStory) -> float | None:
    best, baseline = story.new_bests[-1].best, story.standing.baseline
    return None if best is None or baseline is None else best - baseline


def _clock(story: RunStory, last: Attempt) -> str:
    return "" if story.run.pk is None else clock(last.elapsed_s)


ANALYSIS = Kind(
    id="scaling",
    title="How the score grows",
    short="Scaling",
    about="Best score so far over hours, tokens and submissions, on static and on interactive tasks.",
    paper="Figures 2 and 6",
    place=20,
    build=build,
    choices={
        "x": ("submissions", "hours", "tokens"),
        "kind": ("all", "interactive", "static"),
        "y": ("own", "shared"),
    },
    choice_titles={"x": "Over", "kind": "Tasks", "y": "Vertical scale"},
)
