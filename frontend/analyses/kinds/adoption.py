"""Methods attempted, and adopted in the best checkpoint (table 18)."""

from collections.abc import Iterable

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.reading_rows import stories_read
from frontend.figures.series import plain
from frontend.figures.style import Figure, axis, count_axis, layout, token
from frontend.formats import plural
from frontend.published import behaviour
from frontend.run_methods import method_class
from traces.methods.switches import joined_adoption, method_adoption
from traces.methods.words import Method

Row = tuple[str, str, int, int]
"""A method's name, its CSS class, runs that attempted it, runs whose best checkpoint has it."""
PUBLISHED_CLASSES = {"GRPO": "rl", "DPO": "pref", "KTO / ORPO": "pref", "Model merging": "merge"}


def build(asked: Asked) -> Analysis:
    rows, runs, note = _rows(asked)
    if not rows:
        return Analysis(empty="No run that matches has submissions with known methods.")
    told = [
        [
            Cell(name, methods=[(name, look)]),
            Cell(adopted),
            Cell(attempted),
            Cell(round(adopted / attempted, 4) if attempted else None, f"{100 * adopted / attempted:.0f}%"),
        ]
        for name, look, attempted, adopted in rows
    ]
    over = f"Over {plural(runs, 'run')} with known methods. " if runs else ""
    head = [
        Column("Method"),
        Column("Adopted", "in the best checkpoint", number=True),
        Column("Attempted", number=True),
    ]
    return Analysis(
        reading=_reading(rows),
        tables=[Table([*head, Column("Rate", number=True)], told, caption="Each run counts once for each method.")],
        figure=_figure(rows),
        panels=1,
        note=f"{note}{over}KTO and ORPO share a row as the paper prints them: a run that tried both counts for each.",
        legend="methods",
    )


def _rows(asked: Asked) -> tuple[list[Row], int, str]:
    if asked.published:
        printed = behaviour().adoption
        return (
            [(e.method, PUBLISHED_CLASSES.get(e.method, ""), e.attempted, e.adopted) for e in printed],
            0,
            ("Table 18. "),
        )
    read = stories_read(asked)
    known = [each for each in read.stories if each.labels]
    found = method_adoption(each.submitted for each in known)
    pair = (Method.KTO, Method.ORPO)
    rows = [(m.value, method_class(m), each.attempted, each.adopted) for m, each in found.items() if m not in pair]
    joined = joined_adoption(found, pair)
    if joined.attempted:
        rows.append(("KTO / ORPO", "pref", joined.attempted, joined.adopted))
    return sorted(rows, key=lambda row: (-row[3], -row[2], row[0])), len(known), read.note


def _reading(rows: Iterable[Row]) -> str:
    """How often supervised steps were kept, and how often reinforcement learning."""
    shares = []
    for name, looks in (("supervised steps", {""}), ("policy-gradient RL", {"rl"}), ("preference losses", {"pref"})):
        own = [row for row in rows if row[1] in looks]
        attempted, adopted = sum(row[2] for row in own), sum(row[3] for row in own)
        if attempted:
            shares.append(f"{name} in {adopted} of {attempted}")
    return f"Kept in the best checkpoint, of attempts: {', '.join(shares)}"


def _figure(rows: list[Row]) -> Figure:
    """Bars from zero: adopted filled, attempted only outlined."""
    names = [plain(row[0]) for row in rows]
    adopted: Figure = {"name": "adopted", "x": [row[3] for row in rows], "marker": {"color": token("accent")}}
    rest: Figure = {"name": "attempted only", "x": [row[2] - row[3] for row in rows]}
    rest |= {"marker": {"color": token("paper"), "line": {"color": token("edge"), "width": 1.25}}}
    words = [f"{row[0]}: adopted in {row[3]} of {row[2]} runs" for row in rows]
    look = {"type": "bar", "orientation": "h", "y": names, "hovertext": list(map(plain, words))}
    hover = {"hovertemplate": "%{hovertext}<extra></extra>", "textposition": "inside"}
    labels = [
        {"x": row[2], "y": name, "xanchor": "left", "xshift": 6, "showarrow": False, "text": f"{row[3]} of {row[2]}"}
        for row, name in zip(rows, names, strict=True)
    ]
    return {
        "data": [adopted | look | hover, rest | look | hover],
        "layout": layout(
            barmode="stack",
            margin={"l": 108, "r": 52, "t": 24, "b": 36},
            xaxis=count_axis("runs", max((row[2] for row in rows), default=0)),
            yaxis=axis(autorange="reversed", showgrid=False),
            annotations=labels,
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.01, "yanchor": "bottom", "traceorder": "normal"},
        ),
    }


ANALYSIS = Kind(
    id="adoption",
    title="Methods attempted and adopted",
    short="Adoption",
    about="Which methods agents try, and which of them stand behind the best checkpoint.",
    paper="Table 18",
    place=80,
    build=build,
)
