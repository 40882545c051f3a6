"""How scores depend on hyper-parameters, as submissions' code writes them (table 12)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.reading_rows import stories_read
from frontend.analyses.snapshot_settings import settings_read
from frontend.figures.multiples import Panel, multiples
from frontend.figures.series import top_of
from frontend.figures.style import token
from frontend.formats import plural, score
from frontend.published import behaviour
from frontend.published.facts import Setting
from traces.methods.settings import NAMES

RUNS = 60
PANELS = 6


@dataclass(frozen=True)
class Tried:
    """One value of a setting, and the scores of the submissions that had it."""

    value: float
    scores: Sequence[float]

    @property
    def mean(self) -> float:
        return sum(self.scores) / len(self.scores)


def build(asked: Asked) -> Analysis:
    return _published() if asked.published else _live(asked)


def _published() -> Analysis:
    rows = [
        [Cell(each.parameter), *(_printed(setting) for setting in (each.under, each.best, each.over))]
        for each in behaviour().sensitivity
    ]
    head = [Column("Parameter"), Column("Under-fit"), Column("Sweet spot"), Column("Over-fit")]
    rate = behaviour().sensitivity[0]
    reading = (
        f"A {rate.parameter} of {rate.best.value} scores {_range(rate.best)}; {rate.over.value} {_range(rate.over)}"
    )
    caption = "Supervised fine-tuning on DeepSearchQA from Qwen3-8B-Base (table 12)."
    return Analysis(reading=reading, tables=[Table(head, rows, caption=caption)])


def _printed(setting: Setting) -> Cell:
    return Cell(setting.value, small=f"scores {_range(setting)}" if setting.scores else "")


def _range(setting: Setting) -> str:
    low, high = min(setting.scores), max(setting.scores)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _live(asked: Asked) -> Analysis:
    read = stories_read(asked, most=RUNS)
    tasks = sorted({each.standing.task for each in read.stories})
    settings = settings_read(read.stories)
    scores: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for story in read.stories:
        for each in story.scored:
            for name, value in settings.get((story.run.pk, each.number), {}).items():
                scores[name][value].append(each.score or 0.0)
    tried = {
        name: [Tried(value, own) for value, own in sorted(scores[name].items())] for name in NAMES if name in scores
    }
    if not tried:
        return Analysis(empty="No scored submission that matches has kept code with a literal hyper-parameter.")
    varied = {name: own for name, own in tried.items() if len(own) > 1}
    panels = [_panel(name, own) for name, own in list(varied.items())[:PANELS]]
    mixed = f" Over {len(tasks)} tasks: filter by one to compare scores." if len(tasks) > 1 else ""
    return Analysis(
        reading=_reading(varied or tried),
        tables=[_table(tried)],
        figure=multiples(panels, "value") if panels else None,
        panels=len(panels),
        note=f"{read.note}Literal values in the code kept at each scored submission; a setting with several values in "
        f"that code is left out. Other settings vary too, so this shows what went together, not what caused it.{mixed}",
    )


def _table(tried: dict[str, list[Tried]]) -> Table:
    rows = []
    for name, own in tried.items():
        best = max(own, key=lambda each: each.mean)
        for each in own:
            fit = "sweet spot" if each is best else "below it" if each.value < best.value else "above it"
            rows.append(
                [
                    Cell(name),
                    Cell(each.value, f"{each.value:g}", mark="star" if each is best and len(own) > 1 else ""),
                    Cell(len(each.scores)),
                    Cell(round(each.mean, 4), score(each.mean)),
                    Cell(min(each.scores), score(min(each.scores))),
                    Cell(max(each.scores), score(max(each.scores))),
                    Cell(fit if len(own) > 1 else "only one value"),
                ]
            )
    numbers = ("Value", "Submissions", "Mean score", "Lowest", "Highest")
    return Table([Column("Parameter"), *(Column(each, number=True) for each in numbers), Column("Place")], rows)


def _panel(name: str, own: Sequence[Tried]) -> Panel:
    """Values at equal steps, for they often span magnitudes; each dot is a submission, the line is the mean."""
    xs = list(range(1, len(own) + 1))
    dots = [(x, value) for x, each in zip(xs, own, strict=True) for value in each.scores[:200]]
    ring = {"color": token("paper"), "size": 6, "line": {"color": token("ink-2"), "width": 1.25}}
    hover = {"hovertemplate": "%{y:.2f}<extra></extra>"}
    marks = {"type": "scatter", "mode": "markers", "x": [x for x, _ in dots], "y": [y for _, y in dots], "marker": ring}
    means = {"type": "scatter", "mode": "lines", "x": xs, "y": [each.mean for each in own], "hoverinfo": "skip"}
    look = {"line": {"color": token("accent"), "width": 2}}
    labels = [
        {"x": x, "y": 0, "yanchor": "top", "yshift": -4, "showarrow": False, "text": f"{each.value:g}"}
        | {"font": {"size": 12, "color": token("ink-3")}}
        for x, each in zip(xs, own, strict=True)
    ]
    top = top_of([y for _, y in dots])
    return Panel(name, plural(len(own), "value"), [means | look, marks | hover], len(own) + 0.6, top, (), labels, True)


def _reading(tried: dict[str, list[Tried]]) -> str:
    """The setting whose values differ most in their mean score."""
    name = max(tried, key=lambda each: max(t.mean for t in tried[each]) - min(t.mean for t in tried[each]))
    best, worst = max(tried[name], key=lambda e: e.mean), min(tried[name], key=lambda e: e.mean)
    told = f"{name[0].upper()}{name[1:]} {best.value:g} scores {score(best.mean)} on average"
    if best is worst:
        return f"{told}; no other value was tried"
    return f"{told} over {plural(len(best.scores), 'submission')}; {worst.value:g} scores {score(worst.mean)}"


ANALYSIS = Kind(
    id="sensitivity",
    title="Sensitivity to hyper-parameters",
    short="Hyper-parameters",
    about="Learning rate, rank, epochs and others as the submissions’ own code writes them, against the scores.",
    paper="Table 12",
    place=60,
    build=build,
)
