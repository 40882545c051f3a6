"""The folder's symlinks: where each of them ends."""

from collections import defaultdict
from collections.abc import Iterator

from grading.contract import Finding
from grading.intake.codes import Refused, finding, names
from grading.intake.listing import Listing, is_graded
from grading.intake.paths import Resolver, Trail


def links_check(resolver: Resolver, folder: Trail, listing: Listing) -> Iterator[Finding]:
    """E_SYMLINK for every link that leaves the workspace, and for graded files' links that lead to nothing.

    Raises: OSError.
    """
    faults: dict[str, list[str]] = defaultdict(list)
    for name in listing.links:
        try:
            with resolver.below(folder, [name]):
                pass
        except Refused as refusal:
            if is_graded(name) or refusal.finding.detail.get("rule") == "outside":
                faults[refusal.finding.message].append(name)
    for message, linked in list(faults.items())[:3]:
        yield finding("E_SYMLINK", f"{names(linked)}: {message}", file=linked[0], found=linked)
