"""Everything the report page of one bundle shows."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from benchmark.catalogue import agents, tasks
from benchmark.models import AuditEntry, Trust
from bundles.checking.report import FileRead, Found, Report
from bundles.models import Appeal, Bundle, BundleState
from bundles.services.appeals import may_appeal
from bundles.services.moderation import publication_lacks
from bundles.services.regrade_request import weights_in
from bundles.services.versions import versions_of
from frontend import formats
from frontend.bundle_ladder import Rung, rungs
from frontend.bundle_scores import ScoreRow, score_rows
from grading.models import TaskStanding

SEVERITIES = (("error", "Errors"), ("warning", "Warnings"), ("missing", "Missing"), ("info", "Notes"))
LAYOUTS = {
    "agent2": "bundle of this platform",
    "workspace": "reference workspace",
    "posttrainbench": "PostTrainBench result",
    "harbor": "Harbor job",
    "atif": "ATIF trajectory with scores",
}


FILES_SHOWN = 300
HISTORY = {
    "bundle.upload": "uploaded",
    "bundle.accepted": "the check ended without errors",
    "bundle.rejected": "the check ended: not accepted",
    "bundle.publish": "published",
    "bundle.hide": "hidden",
    "bundle.flag": "flagged",
    "bundle.unflag": "flag taken back",
    "bundle.ask": "changes asked for",
    "bundle.recheck": "to be checked once more",
    "bundle.terms": "contact and licence stated",
    "bundle.appeal": "appeal",
    "bundle.regrade": "to be graded here",
    "bundle.regrade_failed": "could not be graded here",
    "appeal.upheld": "appeal upheld",
    "appeal.dismissed": "appeal dismissed",
}


@dataclass(frozen=True)
class BundlePage:
    bundle: Bundle
    report: Report
    severity: str
    """Of the findings shown; empty: all."""
    may_change: bool
    may_moderate: bool
    is_owner: bool

    @property
    def title(self) -> str:
        bundle, errors = self.bundle, self.report.count("error")
        if bundle.in_check:
            return "Being checked"
        if self.report.refused:
            return "Not opened: the archive is refused"
        if errors:
            return f"Check report: {formats.plural(errors, 'error')} to mend"
        return f"Check report: no errors, {formats.plural(self.report.count('warning'), 'warning')}"

    @property
    def situation(self) -> str:
        """Where it stands, in a few words."""
        bundle = self.bundle
        if bundle.asked and bundle.state == BundleState.ACCEPTED:
            return "changes asked for"
        return {
            BundleState.RECEIVED: "waits for a worker",
            BundleState.CHECKING: "being checked",
            BundleState.ACCEPTED: "waits for a moderator",
            BundleState.REJECTED: "waits for a corrected version",
            BundleState.PUBLISHED: "published",
            BundleState.HIDDEN: "hidden",
        }[BundleState(bundle.state)]

    @property
    def percent_known(self) -> bool:
        return self.bundle.n_expected > 0

    @property
    def layout(self) -> str:
        return LAYOUTS.get(self.report.layout, self.report.layout or "not recognised")

    @property
    def findings(self) -> list[Found]:
        order = [name for name, _ in SEVERITIES]
        chosen = [each for each in self.report.findings if not self.severity or each.severity == self.severity]
        return sorted(chosen, key=lambda each: order.index(each.severity) if each.severity in order else len(order))

    @property
    def chips(self) -> list[tuple[str, str, bool]]:
        """Query, label, whether chosen."""
        total = len(self.report.findings)
        rows = [("", f"All {total}", not self.severity)]
        return rows + [
            (name, f"{label} {self.report.count(name)}", self.severity == name)
            for name, label in SEVERITIES
            if self.report.count(name)
        ]

    @property
    def trust(self) -> str:
        """Of the run; before there is one, claimed."""
        return self.bundle.run.trust if self.bundle.run else Trust.CLAIMED

    @property
    def flagged(self) -> bool:
        return self.trust == Trust.FLAGGED

    @property
    def ladder(self) -> list[Rung]:
        return rungs(self.bundle, self.report)

    @cached_property
    def standing(self) -> TaskStanding | None:
        return TaskStanding.objects.filter(run=self.bundle.run).first() if self.bundle.run else None

    @property
    def baseline(self) -> float | None:
        return self.standing.baseline if self.standing else self.report.claim.baseline

    @cached_property
    def scores(self) -> list[ScoreRow]:
        return score_rows(self.bundle, self.report, self.standing)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The run it describes."""
        claim = self.report.claim
        task, agent = tasks().get(claim.task), agents().get(claim.agent)
        unsaid = "not given"
        budget = formats.clock(claim.budget_s) if claim.budget_s else unsaid
        told = [
            ("Task", f"{task.title}, {task.level}" if task else claim.task or unsaid),
            ("Agent", f"{agent.title if agent else claim.agent or unsaid}, version {claim.agent_version or unsaid}"),
            ("Driver", claim.driver or unsaid),
            ("Base model", f"{claim.base_model or unsaid}, revision {claim.base_revision or unsaid}"),
            ("Mode", claim.mode or unsaid),
            ("Protocol", claim.protocol or unsaid),
            ("Budget", budget + (f", used {formats.clock(claim.used_s)}" if claim.used_s else "")),
            ("Layout", self.layout),
            ("Contact", self.bundle.contact or claim.contact or unsaid),
            ("Licence", self.bundle.licence or claim.licence or unsaid),
        ]
        return told + [(str(name).capitalize(), str(value)) for name, value in claim.extra.items()]

    @property
    def history(self) -> list[tuple[AuditEntry, str]]:
        """What happened, the newest first; who did so is for moderators."""
        found = AuditEntry.objects.filter(subject_type="bundles.bundle", subject=self.bundle.slug)
        return [(each, self._told(each)) for each in found.order_by("-id")[:50]]

    def _told(self, entry: AuditEntry) -> str:
        told = HISTORY.get(entry.action, entry.action)
        by = f" by {entry.actor_name}" if entry.actor_name and self.may_moderate else ""
        why = entry.data.get("reason") or entry.data.get("why") or ""
        return f"{told}{by}{': ' if why else ''}{why}"

    @property
    def root(self) -> str:
        """The run's folder in the archive."""
        parts = self.report.parts
        return self.bundle.part or (parts[0] if len(parts) == 1 else "")

    @property
    def files(self) -> list[tuple[FileRead, str]]:
        """With the name that is shown: below the run's folder."""
        start = f"{self.root}/" if self.root else ""
        return [(each, each.path.removeprefix(start)) for each in self.report.files[:FILES_SHOWN]]

    @cached_property
    def versions(self) -> list[Bundle]:
        return versions_of(self.bundle)

    @property
    def parts(self) -> list[Bundle]:
        """Of one archive with several runs."""
        whole = self.bundle.part_of or self.bundle
        others = list(whole.parts.order_by("id"))
        return [whole, *others] if others else []

    @property
    def weights(self) -> list[int]:
        """Submissions whose checkpoints the archive holds, not graded here yet."""
        return [] if self.trust == Trust.REGRADED else sorted(weights_in(self.bundle))

    @property
    def appeals(self) -> list[Appeal]:
        return list(self.bundle.appeals.order_by("-id"))

    @property
    def may_appeal(self) -> bool:
        return self.is_owner and may_appeal(self.bundle)

    @property
    def lacks(self) -> list[str]:
        return publication_lacks(self.bundle) if self.bundle.run else []


def bundle_page(bundle: Bundle, person: Any, severity: str, *, moderates: bool) -> BundlePage:
    return BundlePage(
        bundle=bundle,
        report=Report.from_data(bundle.report),
        severity=severity if severity in dict(SEVERITIES) else "",
        may_change=bundle.may_change(person),
        may_moderate=moderates,
        is_owner=getattr(person, "pk", None) == bundle.owner_id,
    )
