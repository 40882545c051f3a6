"""The difference of a run's code between two submissions, as the page shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from benchmark.models import Run
from traces.models import CodeSnapshot
from traces.services.snapshots_diff import FileDiff, file_diff, snapshot_changes

FILES_MOST, LINES_MOST = 200, 20_000


@dataclass(frozen=True)
class CodeDiff:
    """`files` are those shown of `total`; `left_out` what the later submission's code holds beside its files."""

    a: int
    b: int
    files: Sequence[FileDiff]
    total: int
    unchanged: int
    left_out: dict[str, str]
    notes: Sequence[str]

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)


def code_diff(run: Run, a: int, b: int) -> CodeDiff | None:
    """None: the code of one of them was not kept. 0 stands for an empty folder."""
    wanted = [number for number in (a, b) if number < 2**31]  # imported runs may leave numbers out
    kept = {each.number: each for each in CodeSnapshot.objects.filter(run=run, number__in=wanted)}
    if a == 0:
        kept[0] = CodeSnapshot(run=run, number=0)
    if a not in kept or b not in kept:
        return None
    before, after = kept[a], kept[b]
    changed = snapshot_changes(before, after)
    shown, lines = [], 0
    for path, status in islice(changed.items(), FILES_MOST):
        file = file_diff(before, after, path, status) if lines <= LINES_MOST else None
        lines += len(file.lines) if file else 0
        shown.append(file if file and lines <= LINES_MOST else FileDiff(path, status, why="not shown: too much"))
    same = sum(before.files[path][0] == after.files[path][0] for path in before.files.keys() & after.files.keys())
    return CodeDiff(a, b, shown, len(changed), same, after.left_out, [*before.notes, *after.notes])
