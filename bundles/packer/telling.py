"""What the packer says on a terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from bundles.dialects.facts import RunFacts
from bundles.dialects.values import clock
from bundles.packer.packing import Chosen, Packed
from bundles.rules.findings import SEVERITIES, Finding
from bundles.unpacking.refusal import amount

WIDTH = 28
WORDS = {"error": "ERROR  ", "warning": "warning", "missing": "missing", "info": "note   "}
LISTED = 40


def tell_run(run: RunFacts, layout: str) -> None:
    best = f"{run.best.score:.2f}" if run.best and run.best.score is not None else "none"
    count = f"{len(run.submissions)} submissions, {len(run.scored)} scored, best {best}"
    lines = (
        ("Layout", layout),
        ("Task", run.task),
        ("Agent", f"{run.agent} {run.agent_version}".strip()),
        ("Driver", run.driver),
        ("Base model", run.base_model),
        ("Time", f"{clock(run.used_s)} of {clock(run.budget_s)}"),
        ("Scores", count),
        ("Contact", ", ".join(filter(None, run.contact.values()))),
        ("Licence", run.licence),
    )
    for name, value in lines:
        print(f"  {name:<12}{value or 'not told'}")


def tell_files(chosen: Chosen, packed: Packed) -> None:
    print("\nWhat is sent:")
    files = packed.manifest["files"]
    masked: dict[str, str] = {}
    for each in packed.manifest.get("redactions", ()):
        masked[each["path"]] = f"{masked.get(each['path'], '')}  {each['count']} × {each['kind']} masked"
    for entry in files[:LISTED]:
        print(f"  {entry['role']:<11}{amount(entry['size']):>10}  {entry['path']}{masked.get(entry['path'], '')}")
    if len(files) > LISTED:
        print(f"  … and {len(files) - LISTED} more files")
    if chosen.left_out:
        print(f"\nLeft out ({len(chosen.left_out)} files):")
        for path, why in list(chosen.left_out.items())[:12]:
            print(f"  {path}: {why}")
        if len(chosen.left_out) > 12:
            print(f"  … and {len(chosen.left_out) - 12} more")
    total = sum(each["count"] for each in packed.manifest.get("redactions", ()))
    print(f"\n{packed.path}: {amount(packed.size)}, {len(files)} files, {total} secrets and addresses masked")
    print(f"SHA-256 {packed.sha256}")


def tell_findings(findings: list[Finding]) -> None:
    for finding in findings:
        place = f"  ({finding.place})" if finding.place else ""
        print(f"{WORDS[finding.severity]}  {finding.title}{place}\n         {finding.text}")
        if finding.fix:
            print(f"         To mend it: {finding.fix}")
    counts = {severity: sum(each.severity == severity for each in findings) for severity in SEVERITIES}
    print("\n" + ", ".join(f"{count} {name}" for name, count in counts.items()))


class Bar:
    """A progress bar on a terminal; a line every ten per cent elsewhere."""

    def __init__(self, out: TextIO = sys.stderr) -> None:
        self._out = out
        self._began = time.monotonic()
        self._first: int | None = None
        self._last = -1

    def __call__(self, done: int, of: int) -> None:
        share = done / of if of else 1.0
        if self._first is None:
            self._first = done
        rate = (done - self._first) / max(0.001, time.monotonic() - self._began)
        text = f"{share:4.0%}  {amount(done)} of {amount(of)}  {amount(int(rate))}/s"
        if self._out.isatty():
            full = int(share * WIDTH)
            self._out.write(f"\r[{'#' * full}{'.' * (WIDTH - full)}] {text:<48}" + ("\n" if done >= of else ""))
        elif int(share * 10) > self._last or done >= of:
            self._last = int(share * 10)
            self._out.write(text + "\n")
        self._out.flush()
