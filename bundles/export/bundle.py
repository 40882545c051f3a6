"""Writing a run as a bundle. The same run gives the same bytes, whenever and wherever it is written."""

import hashlib
import json
import zipfile
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from benchmark.models import Origin, Run
from bundles.dialects.agent2_writing import manifest_of
from bundles.export.facts import layout_of_run, run_facts
from bundles.export.files import Source, run_sources
from bundles.export.stated import stated_facts
from bundles.format.words import MANIFEST
from bundles.packer.packing import zip_info

EXPORTER = "Agent2 RL-Bench export 1.0"


class CannotExport(Exception):
    """There is no bundle of this run; the message says why."""


class NotYet(CannotExport):
    """The run has not ended."""


class NothingHere(CannotExport):
    """The run is a number of a publication."""


@dataclass
class ExportReport:
    """What went into the bundle; `notes` tell what did not."""

    files: int = 0
    bytes: int = 0
    """Before compression."""
    notes: list[str] = field(default_factory=list)


def bundle_export(*, run: Run, into: BinaryIO, details: dict[str, Any] | None = None) -> ExportReport:
    """Write the bundle of an ended run into an open file. `details` gives contact and licence where nothing does.

    Held-out data are not part of it: records of single samples stay here. Raises: CannotExport; OSError.
    """
    if not run.terminal:
        raise NotYet(f"Run {run.slug} is {run.get_state_display()}; it can be exported when it has ended.")
    if run.origin == Origin.PUBLISHED:
        raise NothingHere(f"Run {run.slug} is a published number: nothing of the run itself is here.")
    report = ExportReport()
    stated = stated_facts(run)
    facts = run_facts(run, stated)
    for name in ("contact", "licence", "hardware", "seeds"):
        if details and details.get(name) and not getattr(facts, name):
            setattr(facts, name, details[name])
    sources = run_sources(run, report.notes)
    kept = list(stated.redactions) if stated else []
    named = {each.get("path") for each in kept}
    masked = [each for each in sources if each.masked and each.path not in named]
    facts.redactions = kept + [{"path": each.path, "kind": "secret", "count": each.masked} for each in masked]
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        entries = [_write(archive, source, report) for source in sources]
        manifest = manifest_of(facts, entries, layout=layout_of_run(run), created_by=EXPORTER)
        archive.writestr(zip_info(MANIFEST), json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")
    return report


def _write(archive: zipfile.ZipFile, source: Source, report: ExportReport) -> dict[str, Any]:
    digest = hashlib.sha256()
    with archive.open(zip_info(source.path), "w", force_zip64=True) as target:
        for block in source.blocks():
            digest.update(block)
            target.write(block)
    report.files += 1
    report.bytes += source.size
    return {"path": source.path, **source.entry, "size": source.size, "sha256": digest.hexdigest()}
