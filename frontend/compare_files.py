"""A comparison to take away: its curves as CSV, its measures as LaTeX."""

from frontend.compare import Comparison
from frontend.csv_text import csv_text
from frontend.latex import latex_table

COLUMNS = ("letter", "run", "agent", "driver", "task", "protocol", "baseline")
POINT = ("number", "elapsed_s", "tokens", "state", "score", "best_so_far", "new_best", "methods")


def comparison_csv(comparison: Comparison) -> str:
    """One line a submission; of a run without submissions one line with its score alone."""
    rows: list[list[object]] = []
    for line in comparison.lines:
        run, standing = line.run, line.story.standing
        facts: list[object] = [line.letter, run.slug, run.agent, run.driver]
        facts += [standing.task, standing.protocol, standing.baseline]
        for each in line.story.attempts:
            told = [each.number, round(each.elapsed_s, 3), each.tokens, each.state, each.score, each.best]
            rows.append([*facts, *told, int(each.new_best), " ".join(each.methods)])
        if not line.story.attempts:
            rows.append([*facts, None, None, None, run.state, standing.value, standing.value, None, None])
    return csv_text([*COLUMNS, *POINT], rows)


def comparison_latex(comparison: Comparison) -> str:
    """The table of measures, the best of each marked."""
    head = ["", *(f"{line.letter}: {line.title}" for line in comparison.lines)]
    rows = [
        [measure.title, *(("★ " if value.best else "") + value.text for value in measure.values)]
        for measure in comparison.measures
    ]
    names = ", ".join(f"{line.letter} is run {line.run.slug}" for line in comparison.lines)
    caption = f"{comparison.reading}. {comparison.task_title}; {'; '.join(comparison.shared)}. {names}."
    return latex_table(head, rows, caption=caption, numbers=[False, *[True] * len(comparison.lines)])
