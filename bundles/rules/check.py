"""The whole check: one folder in, one report out. The server and the packer run this same function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from bundles.dialects.agent2 import agent2_read
from bundles.dialects.detect import EXPECTED, READERS, runs_in
from bundles.dialects.facts import RunFacts
from bundles.dialects.values import iso
from bundles.format.names import shown
from bundles.format.tree import Tree
from bundles.format.words import MANIFEST
from bundles.rules.case import Case
from bundles.rules.catalogue import ABOUT_INTEGRITY, CATALOGUE
from bundles.rules.details import details_applied
from bundles.rules.fact_rules import fact_findings
from bundles.rules.findings import SEVERITIES, Finding, found
from bundles.rules.held_out_words import held_out_pattern
from bundles.rules.known import Known
from bundles.rules.manifest_rules import files_findings, manifest_load, same_as_findings, yaml_manifest
from bundles.rules.score_rules import score_findings
from bundles.rules.time_rules import time_findings
from bundles.rules.transcript_rules import transcript_findings
from bundles.rules.transcripts import TranscriptFacts, transcript_scan

CHECKS: tuple[Callable[[Case], Iterator[Finding]], ...] = (
    fact_findings,
    score_findings,
    time_findings,
    transcript_findings,
)


SCORES_ASIDE = ("scores_missing", "meta_missing", "time_missing", "baseline_varies")
"""What a layout asks for, and a manifest makes up for."""


@dataclass(frozen=True)
class FileRead:
    """One file of the archive: `read` is read, in part, kept or ignored."""

    path: str
    size: int
    sha256: str
    read: str
    understood: str


@dataclass
class RunReport:
    """What is said of one run."""

    facts: RunFacts
    findings: list[Finding] = field(default_factory=list)
    transcripts: list[TranscriptFacts] = field(default_factory=list)

    @property
    def root(self) -> str:
        return self.facts.root

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def passed(self) -> list[str]:
        """Codes of checks that found nothing."""
        codes = {finding.code for finding in self.findings}
        mine = {code: entry for code, entry in CATALOGUE.items() if code not in ABOUT_INTEGRITY}
        return [code for code, entry in mine.items() if code not in codes and entry.severity != "info"]

    def as_data(self) -> dict[str, Any]:
        run = self.facts
        return {
            "root": run.root,
            "layout": run.layout,
            "run": facts_data(run),
            "findings": [finding.as_data() for finding in self.findings],
            "transcripts": [facts.as_data() for facts in self.transcripts],
            "passed": self.passed,
        }


@dataclass
class BundleReport:
    """What is said of one archive."""

    findings: list[Finding]
    runs: list[RunReport]
    files: list[FileRead]

    @property
    def all_findings(self) -> list[Finding]:
        """Errors first, then in the order of the checks."""
        every = [*self.findings, *(finding for run in self.runs for finding in run.findings)]
        return sorted(every, key=lambda finding: SEVERITIES.index(finding.severity))

    @property
    def has_errors(self) -> bool:
        return any(finding.severity == "error" for finding in self.all_findings)

    def as_data(self) -> dict[str, Any]:
        """JSON."""
        return {
            "findings": [finding.as_data() for finding in self.findings],
            "runs": [run.as_data() for run in self.runs],
            "files": [vars(each) for each in self.files],
            "has_errors": self.has_errors,
        }


def bundle_check(
    folder: Path,
    *,
    name: str,
    known: Known | None = None,
    now: datetime | None = None,
    details: dict[str, Any] | None = None,
) -> BundleReport:
    """Check the unpacked archive in `folder`; `name` is the archive's own.

    `details` are members of a manifest that the files may leave open, such as `base_model`: they fill gaps and change
    nothing that a file says. Reads every file at most twice, in blocks. Raises: OSError.
    """
    tree = Tree(folder)
    known, now = known or Known(), now or datetime.now(timezone.utc)
    findings = (
        [found("link_left_out", f"{len(tree.links)}: {shown(tree.links[0])} …", tree.links[0])] if tree.links else []
    )
    places = runs_in(tree)
    if not any(layout == "agent2" for layout, _ in places):
        findings += yaml_manifest(tree)
    if not places:
        there = ", ".join(shown(path, 60) for path in list(tree.sizes)[:5]) or "nothing"
        findings.append(found("no_run", f"Expected was {EXPECTED}. There is {there}.", "."))
    if len(places) > 1:
        findings.append(found("several_runs", f"{len(places)}: each is checked and shown by itself.", "."))
    check = _Check(tree, name, known, now, details or {})
    runs = [check.run(layout, root) for layout, root in places]
    return BundleReport(findings, runs, _files(tree, runs))


@dataclass(frozen=True)
class _Check:
    """What is the same for all runs of an archive."""

    tree: Tree
    name: str
    known: Known
    now: datetime
    details: dict[str, Any]

    def run(self, layout: str, root: str) -> RunReport:
        if layout != "agent2":
            run, findings = READERS[layout](self.tree, root, self.name)
            return _ruled(Case(self.tree, details_applied(run, self.details), self.now, self.known), findings)
        manifest, findings = manifest_load(self.tree, root)
        if manifest is None:
            return RunReport(RunFacts("agent2", root=root.rstrip("/")), findings)
        findings += [*files_findings(self.tree, root, manifest), *same_as_findings(manifest)]
        run, more = agent2_read(manifest, root)
        run = details_applied(run, self.details)
        inner, told = _inner(self.tree, root, self.name)
        findings += told
        if inner is not None:
            run.metrics, run.understood = inner.metrics, {**inner.understood, **run.understood}
            run.claimed_count, run.claimed_improvement = inner.claimed_count, inner.claimed_improvement
        return _ruled(Case(self.tree, run, self.now, self.known, manifest, inner=inner), findings + more)


def _inner(tree: Tree, root: str, name: str) -> tuple[RunFacts | None, list[Finding]]:
    """What the files below a manifest say by themselves, where they are of one of the other layouts with scores."""
    below = _without(tree, root + MANIFEST)
    places = [(layout, folder) for layout, folder in runs_in(below) if folder.startswith(root) and layout != "agent2"]
    if len(places) != 1:
        return None, []
    run, findings = READERS[places[0][0]](below, places[0][1], name)
    has_scores = bool(run.submissions)
    return (run if has_scores else None), [finding for finding in findings if finding.code not in SCORES_ASIDE]


def _without(tree: Tree, path: str) -> Tree:
    """The tree without one file."""
    return Tree(tree.top, {each: size for each, size in tree.sizes.items() if each != path})


def _ruled(case: Case, findings: list[Finding]) -> RunReport:
    words = case.known.held_out_words.get(case.run.task, ())
    case.transcripts = _transcripts(case.tree, case.run, words)
    _from_transcripts(case.run, case.transcripts)
    for rule in CHECKS:
        findings += rule(case)
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return RunReport(case.run, findings, case.transcripts)


def _transcripts(tree: Tree, run: RunFacts, words: Sequence[str] = ()) -> list[TranscriptFacts]:
    pattern = held_out_pattern(run.task, words)
    scanned = []
    for path in run.transcripts:
        if path in tree:
            with tree.open(path) as file:
                scanned.append(transcript_scan(file, path, pattern))
    return scanned


def _from_transcripts(run: RunFacts, transcripts: list[TranscriptFacts]) -> None:
    for facts in transcripts:
        run.agent_version = run.agent_version or facts.version
        run.driver = run.driver or facts.model


def as_given(tree: Tree, run: RunFacts) -> RunFacts:
    """`run` with the agent's version and driver as its transcripts name them, where nothing else does."""
    _from_transcripts(run, _transcripts(tree, run))
    return run


def _files(tree: Tree, runs: list[RunReport]) -> list[FileRead]:
    told: dict[str, tuple[str, str]] = {}
    for report in runs:
        run = report.facts
        told.update((path, ("ignored", why)) for path, why in run.ignored.items())
        told.update(
            (path, ("read", f"code{f' of submission {n}' if n else ''}"))
            for n, c in run.code.items()
            for path in c.values()
        )
        for role, paths in (("log", run.logs), ("summary", run.summaries), ("samples", run.samples)):
            told.update((path, ("kept", role)) for path in paths)
        told.update((path, ("read", what)) for path, what in run.understood.items())
        for facts in report.transcripts:
            told[facts.path] = ("read", f"{facts.kind or 'text'}: {facts.lines:,} lines")
    missing = ("ignored", "not known in this layout")
    return [FileRead(path, size, tree.sha256(path), *told.get(path, missing)) for path, size in tree.sizes.items()]


def facts_data(run: RunFacts) -> dict[str, Any]:
    """A run's facts as JSON."""
    data: dict[str, Any] = {}
    for key, value in vars(run).items():
        if key in ("understood", "ignored", "manifest", "metrics", "code"):
            continue
        data[key] = plain(value)
    data["submissions"] = [{name: plain(each) for name, each in vars(claim).items()} for claim in run.submissions]
    data["code"] = {str(number): len(files) for number, files in run.code.items()}
    return data


def plain(value: Any) -> Any:
    """Times as text, NaN and infinities too."""
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value
