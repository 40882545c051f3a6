"""What opening an archive has to say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bundles.format.names import shown
from bundles.rules.findings import Finding, found


def opened_findings(left_out: Mapping[str, str], notes: Sequence[str]) -> list[Finding]:
    """`left_out` is name → why; `notes` are sentences."""
    told = [found("archive_read_so", note) for note in notes]
    if left_out:
        names = list(left_out)
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        text = f"{', '.join(map(shown, names[:5]))}{more}: {left_out[names[0]]}."
        told.append(found("junk_left_out", text, names[0]))
    return told
