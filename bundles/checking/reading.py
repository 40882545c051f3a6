"""From an archive to a report: unpacked, checked, and told in the platform's own terms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bundles.checking.report import Claim, ClaimedSubmission, FileRead, Found, Report
from bundles.dialects.facts import Claim as Stated
from bundles.dialects.facts import RunFacts
from bundles.dialects.values import iso
from bundles.format.names import shown
from bundles.format.tree import Tree
from bundles.integrity.evidence import Sources, evidence_find, weight_folders
from bundles.rules.catalogue import CATALOGUE
from bundles.rules.check import BundleReport, RunReport, bundle_check
from bundles.rules.findings import Finding
from bundles.rules.known import Known
from bundles.rules.opened import opened_findings
from bundles.unpacking.unpack import Refused, archive_unpack

Tell = Callable[[str, int, int], None]


def unpack(archive: Path, into: Path, filename: str) -> tuple[Report, list[Finding]]:
    """Only unpack it; the report says whether it was refused, the findings what was left aside."""
    try:
        opened = archive_unpack(archive, into, filename=filename)
    except Refused as refusal:
        return Report(refused={"code": refusal.code, "text": refusal.text, "fix": refusal.fix}), []
    return Report(), opened_findings(opened.left_out, opened.notes)


def bundle_read(task: Mapping[str, Any], tell: Tell) -> Report:
    """Unpack `archive` to `into` and check the run in its folder `part`; empty: the first one."""
    archive, into = Path(task["archive"]), Path(task["into"])
    tell("unpacking", 0, 0)
    opened, told = unpack(archive, into, task["filename"])
    if opened.refused or task.get("only_unpack"):
        return opened
    tell("checking", 0, 0)
    known, details = Known(**task["known"]), dict(task.get("details") or {})
    checked = bundle_check(into, name=task["filename"], known=known, details=details)
    checked.findings += told
    tell("comparing", 0, 0)
    _compare(checked, into, task)
    tell("checking", 1, 1)
    return _told(checked, task["part"])


def _compare(checked: BundleReport, into: Path, task: Mapping[str, Any]) -> None:
    """Signs of contact with held-out data, and copied weights, for the run that the bundle is about."""
    for run in checked.runs:
        if not task["part"] or run.root == task["part"]:
            run.findings += evidence_find(Tree(into), run.facts, Sources.of(task.get("sources") or {}, run.facts.task))
            return


def _told(checked: BundleReport, part: str) -> Report:
    parts = tuple(run.root for run in checked.runs)
    run = next((run for run in checked.runs if run.root == part), checked.runs[0] if checked.runs else None)
    findings = [*checked.findings, *(run.findings if run else ())]
    facts = run.facts if run else RunFacts("")
    files = [each for each in checked.files if len(parts) < 2 or each.path.startswith(f"{facts.root}/")]
    return Report(
        layout=str(facts.manifest.get("layout") or facts.layout),
        findings=tuple(_found(each) for each in findings),
        passed=_passed(run),
        files=tuple(FileRead(**asdict(each)) for each in files),
        claim=_claim(facts, [each.path for each in files]),
        parts=parts,
    )


def _passed(run: RunReport | None) -> tuple[str, ...]:
    return tuple(CATALOGUE[code].title for code in run.passed) if run else ()


def _found(each: Finding) -> Found:
    return Found(
        each.code, each.severity, each.category, each.title, each.text, fix=each.fix, source=shown(each.place or "")
    )


def _claim(run: RunFacts, paths: Sequence[str]) -> Claim:
    root = f"{run.root}/" if run.root else ""
    weights = weight_folders([path for path in paths if path.startswith(root)])
    return Claim(
        task=run.task,
        tasks=tuple(run.tasks),
        protocol=run.protocol,
        agent=run.agent,
        agent_version=run.agent_version,
        driver=run.driver,
        base_model=run.base_model,
        base_revision=run.base_revision,
        mode=run.mode,
        budget_s=run.budget_s,
        used_s=run.used_s,
        started_at=_time(run.started_at),
        ended_at=_time(run.ended_at),
        outcome=run.outcome,
        baseline=run.baselines.get(run.task, next(iter(run.baselines.values()), None)),
        baselines=dict(run.baselines),
        tokens=run.tokens,
        contact=", ".join(str(value) for value in run.contact.values() if value),
        licence=run.licence,
        redacted=_redacted(run),
        extra=_extra(run),
        submissions=tuple(_submission(each, weights) for each in run.submissions),
        transcripts=tuple(run.transcripts),
        code={str(number): dict(files) for number, files in run.code.items()},
        summaries=tuple(run.summaries),
        logs=tuple(run.logs),
    )


def _time(moment: Any) -> str:
    return iso(moment) or "" if moment is not None else ""


def _weights(model_path: str, folders: Sequence[str]) -> str:
    """The folder that the path names: by its end, since its beginning may be of another machine; "" unless just one."""
    wanted = [part for part in model_path.split("/") if part not in ("", ".")][-2:]
    found = [each for each in folders if wanted and each.split("/")[-len(wanted) :] == wanted]
    return found[0] if len(found) == 1 else ""


def _submission(each: Stated, folders: Sequence[str]) -> ClaimedSubmission:
    return ClaimedSubmission(
        number=each.number,
        at=_time(each.at),
        elapsed_s=each.elapsed_s,
        model_path=each.model_path,
        score=each.score,
        standard_error=each.standard_error,
        error=each.error or each.error_code,
        digest=each.digest,
        task=each.task,
        weights=_weights(each.model_path, folders),
    )


def _redacted(run: RunFacts) -> str:
    """What was masked when the bundle was packed, in a sentence."""
    counts = {
        str(each.get("kind", "secret")): each.get("count", 0) for each in run.redactions if isinstance(each, dict)
    }
    told = ", ".join(f"{count} of kind {kind}" for kind, count in counts.items())
    return f"Masked when the bundle was packed: {told}." if told else ""


def _extra(run: RunFacts) -> dict[str, str]:
    told = {str(name): _plain(value)[:200] for name, value in list(run.hardware.items())[:20]}
    if run.seeds:
        told["seeds"] = ", ".join(map(str, run.seeds[:20]))
    return told


def _plain(value: Any) -> str:
    """`8 × NVIDIA H200` for a list of GPUs, else the value as text."""
    if not isinstance(value, list):
        return str(value)
    named = [each for each in value if isinstance(each, dict) and "name" in each]
    return ", ".join(f"{each.get('count', 1)} × {each['name']}" for each in named) or ", ".join(map(str, value))
