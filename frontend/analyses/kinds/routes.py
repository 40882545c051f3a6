"""Which routes runs take, by task or by agent stack (table 8 and its distribution)."""

from collections import Counter

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.distribution import count_figure, count_table, counted, rows_of_panels
from frontend.analyses.reading_rows import stack_title, stories_read
from frontend.board.known_tasks import task_place, task_title
from frontend.formats import plural
from frontend.published import terms
from traces.methods.words import Route


def build(asked: Asked) -> Analysis:
    return _published() if asked.published else _live(asked)


def _published() -> Analysis:
    rows = [[Cell(each.route), Cell(each.rule)] for each in terms().routes]
    reading = f"The paper tells {len(rows)} routes by what the training script contains; it prints no counts"
    return Analysis(reading=reading, tables=[Table([Column("Route"), Column("Told by")], rows, caption="Table 8.")])


def _live(asked: Asked) -> Analysis:
    read = stories_read(asked)
    by_task = asked.choices["by"] == "task"
    stories = sorted((each for each in read.stories if each.route), key=lambda each: task_place(each.standing.task))
    if not stories:
        return Analysis(empty="No run that matches has submissions whose code was judged.")
    pairs = [
        (task_title(each.standing.task) if by_task else stack_title(each), each.route.route.value)
        for each in stories
        if each.route
    ]
    counts = counted(pairs)
    total = Counter(name for _, name in pairs)
    names = [route.value for route in Route if total[route.value]]
    runs = {group: own.total() for group, own in counts.items()}
    missing = len(read.stories) - len(stories)
    without = f"{plural(missing, 'run')} without judged code left out. " if missing else ""
    return Analysis(
        reading=_reading(total),
        tables=[count_table(counts, names, "Task" if by_task else "Agent stack", runs)],
        figure=count_figure(counts, names),
        panels=rows_of_panels(len(counts)),
        note=f"{read.note}{without}A run’s route follows from the methods of all its submissions.",
    )


def _reading(total: Counter[str]) -> str:
    name, count = total.most_common(1)[0]
    runs = total.total()
    rl = sum(total[route.value] for route in (Route.SFT_RL, Route.GRPO, Route.PPO))
    return f"{count} of {plural(runs, 'run')} take the route {name}; {rl} contain RL-style training"


ANALYSIS = Kind(
    id="routes",
    title="Routes",
    short="Routes",
    about="Which kinds of training a run’s code contains: supervised, RL, both, copies, or nothing.",
    paper="Table 8",
    place=100,
    build=build,
    choices={"by": ("task", "stack")},
    choice_titles={"by": "By"},
)
