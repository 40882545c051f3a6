"""How runs fail, by task or by agent stack (table 10 and its distribution)."""

from collections import Counter
from collections.abc import Sequence

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Count, F, Q

from frontend.analyses.contract import Analysis, Asked, Cell, Column, Kind, Table
from frontend.analyses.distribution import count_figure, count_table, counted, rows_of_panels
from frontend.analyses.reading_rows import stack_title, stories_read
from frontend.board.known_tasks import level_of, task_place, task_title
from frontend.formats import plural
from frontend.published import terms
from frontend.run_stories import RunStory
from traces.methods.failures import FailureType, RunFacts, failure_suggestions
from traces.models import ANNOTATE, Adjudication, Labelling, LabellingQueue, Recording

Person = AbstractBaseUser | AnonymousUser


def build(asked: Asked) -> Analysis:
    return _published() if asked.published else _live(asked)


def _published() -> Analysis:
    rows = [
        [Cell(each.type), Cell(", ".join(each.tasks) or each.where), Cell(each.symptom)] for each in terms().failures
    ]
    head = [Column("Failure type"), Column("Seen on"), Column("What shows it")]
    reading = f"The paper names {len(rows)} types of failure; it prints no counts"
    return Analysis(reading=reading, tables=[Table(head, rows, caption="Table 10.")])


def _live(asked: Asked) -> Analysis:
    read = stories_read(asked, idle=True)
    ended = [each for each in read.stories if each.run.terminal]
    open_to = may_be_told(asked.user, [each.run.pk for each in ended])
    stories = sorted((e for e in ended if e.run.pk in open_to), key=lambda e: task_place(e.standing.task))
    withheld = len(ended) - len(stories)
    if not stories:
        told = f"{plural(withheld, 'run')} withheld until people have labelled them."
        return Analysis(empty=told if withheld else "No run that matches has ended.")
    types = _types(stories)
    by_task = asked.choices["by"] == "task"

    def group(story: RunStory) -> str:
        return task_title(story.standing.task) if by_task else stack_title(story)

    runs = Counter(group(story) for story in stories)
    counts = {name: Counter[str]() for name in runs} | counted(
        (group(story), name) for story in stories for name in types[story.run.pk]
    )
    counts = {name: counts[name] for name in runs}
    names = [each.value for each in FailureType if any(own[each.value] for own in counts.values())]
    kept = f"{plural(withheld, 'run')} withheld until people have labelled them. " if withheld else ""
    return Analysis(
        reading=_reading(types, stories),
        tables=[count_table(counts, names, "Task" if by_task else "Agent stack", dict(runs))],
        figure=count_figure(counts, names) if names else None,
        panels=rows_of_panels(len(counts)),
        note=f"{read.note}{kept}Where people have decided on a run, their decision counts; else what rules "
        "suggest. A run may have several types.",
    )


def may_be_told(user: Person, run_ids: Sequence[int]) -> set[int]:
    """Runs whose failures this reader may see: to annotators those that they have labelled, to others those that
    nobody is still to label blind."""
    if isinstance(user, User) and user.has_perm(ANNOTATE):
        return set(Labelling.objects.submitted().filter(author=user, run__in=run_ids).values_list("run_id", flat=True))
    claimed = Labelling.objects.open().counted().filter(run__in=run_ids).values_list("run_id", flat=True)
    done = Count("runs__labellings", filter=Q(runs__labellings__submitted_at__isnull=False), distinct=True)
    queued = LabellingQueue.objects.filter(runs__in=run_ids).values("id", "runs__id", "annotators").annotate(done=done)
    waiting = queued.filter(annotators__gt=F("done")).values_list("runs__id", flat=True)
    return set(run_ids) - set(claimed) - set(waiting)


def _types(stories: Sequence[RunStory]) -> dict[int, list[str]]:
    """By run: what was decided, else what the rules suggest. Two queries."""
    ids = [story.run.pk for story in stories]
    decided = {
        each.run_id: list(each.failure_types) for each in Adjudication.objects.filter(run__in=ids).order_by("id")
    }
    rows = Recording.objects.filter(run__in=ids).values_list("run_id", "code_files", "trace__event_count")
    recorded = {run_id: (files or 0, events or 0) for run_id, files, events in rows}
    found = {}
    for story in stories:
        suggested = [
            str(each.type.value) for each in failure_suggestions(_facts(story, *recorded.get(story.run.pk, (0, 0))))
        ]
        found[story.run.pk] = decided.get(story.run.pk, suggested)
    return found


def _facts(story: RunStory, code_files: int, events: int) -> RunFacts:
    used = story.run.elapsed_s()
    return RunFacts(
        scores=tuple(each.score for each in story.attempts),
        error_codes=tuple(each.state if each.score is None else None for each in story.attempts),
        methods=tuple(each.methods for each in story.attempts),
        baseline=story.standing.baseline,
        is_interactive=level_of(story.standing.task) == "L3",
        code_files=code_files,
        events=events,
        time_used_ratio=used / story.run.budget_s if used and story.run.budget_s else None,
    )


def _reading(types: dict[int, list[str]], stories: Sequence[RunStory]) -> str:
    total = Counter(name for story in stories for name in set(types[story.run.pk]))
    if not total:
        return f"No failure shows in {plural(len(stories), 'run')}"
    name, count = total.most_common(1)[0]
    free = sum(not types[story.run.pk] for story in stories)
    return f"{name} is the commonest, in {count} of {plural(len(stories), 'run')}; {free} show none"


ANALYSIS = Kind(
    id="failures",
    title="Failures",
    short="Failures",
    about="Which of the five failure types runs show: what people decided, else what rules suggest.",
    paper="Table 10",
    place=110,
    build=build,
    choices={"by": ("task", "stack")},
    choice_titles={"by": "By"},
)
