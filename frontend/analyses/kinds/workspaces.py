"""What a run leaves behind: submissions, code, checkpoints, zeros, and when the best came (table 11)."""

from collections.abc import Sequence

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.reading_rows import stack_title, stories_read
from frontend.board.known_tasks import task_place, task_title
from frontend.formats import plural
from frontend.published import behaviour
from frontend.run_methods import method_class
from frontend.run_stories import RunStory
from traces.methods.words import Method
from traces.models import Recording

ROWS = 150


def build(asked: Asked) -> Analysis:
    return _published(asked) if asked.published else _live(asked)


def _head(own: Sequence[str]) -> list[Column]:
    numbers = (
        ("Submissions", ""),
        ("Code files", "in the workspace"),
        ("Model versions", "folders with weights"),
        ("Zero rate", "of scored submissions"),
        ("Best at", "submission"),
    )
    return [*map(Column, own), *(Column(title, note, number=True) for title, note in numbers), Column("Methods")]


def _published(asked: Asked) -> Analysis:
    rows = [each for each in behaviour().workspaces if asked.filters.shows_task(each.task)]
    told = [
        [
            Cell(task_title(each.task)),
            Cell(each.mode),
            Cell(each.submissions),
            Cell(each.code_files),
            Cell(each.model_versions),
            _share(each.zero_rate),
            Cell(each.best_at),
            Cell(", ".join(each.strategies)),
        ]
        for each in rows
    ]
    caption = "Claude Code, Claude Opus 4.6, Qwen2.5-7B-Instruct (table 11)."
    reading = _reading([(each.submissions, each.best_at) for each in rows])
    return Analysis(reading=reading, tables=[Table(_head(["Task", "Mode"]), told, caption=caption)])


def _live(asked: Asked) -> Analysis:
    read = stories_read(asked, most=ROWS)
    if not read.stories:
        return Analysis(empty="No run that matches has a submission.")
    ids = [each.run.pk for each in read.stories]
    recorded = {each.run_id: each for each in Recording.objects.filter(run__in=ids).only("run_id", *_KEPT)}
    ordered = sorted(read.stories, key=lambda each: (task_place(each.standing.task), each.run.slug))
    rows = [_row(each, recorded.get(each.run.pk)) for each in ordered]
    reached = [(each.total, each.standing.best_number) for each in ordered if each.standing.best_number]
    return Analysis(
        reading=_reading(reached),
        tables=[Table(_head(["Run", "Task", "Agent stack", "Mode"]), rows)],
        note=f"{read.note}The zero rate counts scores of 0.00; what was not scored is no zero. Code files and model "
        "versions are counted when a run ends; a dash: nobody looked.",
        legend="methods",
    )


_KEPT = ("code_files", "model_versions")


def _row(story: RunStory, recording: Recording | None) -> list[Cell]:
    scored = story.scored
    used = {method for each in story.attempts for method in each.methods}
    return [
        Cell(story.run.slug, link=f"/runs/{story.run.slug}/"),
        Cell(task_title(story.standing.task)),
        Cell(stack_title(story)),
        Cell(str(story.run.get_mode_display())),
        Cell(story.total),
        Cell(recording.code_files if recording else None),
        Cell(recording.model_versions if recording else None),
        _share(sum(each.score == 0 for each in scored) / len(scored) if scored else None),
        Cell(story.standing.best_number),
        Cell(methods=[(method.value, method_class(method)) for method in Method if method in used]),
    ]


def _share(share: float | None) -> Cell:
    return Cell(None if share is None else round(share, 4), "" if share is None else f"{100 * share:.0f}%")


def _reading(reached: Sequence[tuple[int, int | None]]) -> str:
    """How many submissions a run takes, and when its best comes."""
    if not reached:
        return "No run has a score yet"
    totals = sorted(total for total, _ in reached)
    late = sum((at or 0) > total / 2 for total, at in reached)
    told = f"Runs take {totals[0]} to {totals[-1]} submissions"
    return f"{told}; {late} of {plural(len(reached), 'run')} reached the best in the second half of them"


ANALYSIS = Kind(
    id="workspaces",
    title="Workspaces",
    short="Workspaces",
    about="How much code and how many checkpoints a run leaves behind, how many submissions score zero, and when the "
    "best one came.",
    paper="Table 11",
    place=50,
    build=build,
)
