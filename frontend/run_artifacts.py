"""What a run left: checkpoints with their digests and files, records, code, transcripts, the log."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from frontend.run_page import RunPage
from grading.models import Submission
from traces.models import Trace

SHOWN = 200


@dataclass(frozen=True)
class Checkpoint:
    """One submission's files as intake saw them."""

    submission: Submission
    code_files: int | None
    """Of the code that was kept with it; None: none was."""

    @property
    def files(self) -> list[tuple[str, int]]:
        """`(name, bytes)` of the graded files."""
        told = self.submission.intake.get("files", [])
        return [(str(each.get("name", "")), int(each.get("bytes", 0))) for each in told if isinstance(each, dict)]

    @property
    def ignored(self) -> int:
        return len(self.submission.intake.get("ignored", []))

    @property
    def has_records(self) -> bool:
        return bool(self.submission.verdict and self.submission.verdict.records)


@dataclass(frozen=True)
class Artifacts:
    page: RunPage
    traces: Sequence[Trace]

    @cached_property
    def checkpoints(self) -> list[Checkpoint]:
        """The newest first, at most SHOWN."""
        kept = self.page.account.snapshots
        return [
            Checkpoint(point.submission, len(kept[at].files) if (at := point.submission.number) in kept else None)
            for point in self.page.newest_first[:SHOWN]
        ]

    @property
    def left_out(self) -> int:
        return max(0, len(self.page.points) - SHOWN)


def artifacts_of(page: RunPage) -> Artifacts:
    return Artifacts(page, list(Trace.objects.filter(run=page.run).order_by("id")))
