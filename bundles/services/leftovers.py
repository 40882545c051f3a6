"""What killed servers and workers left behind in quarantine."""

import shutil
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from benchmark.services.pruning import is_old
from bundles.models import Bundle, BundleState, Upload
from bundles.services.regrade_request import ASKED, WEIGHTS

LEFT_S = 3600.0


def leftovers_remove() -> int:
    """Delete files and folders that nobody works with any more; how many."""
    age_s = max(2 * settings.BUNDLE_CHECK_S, LEFT_S)
    found = [each for name in ("quarantine", "checking") for each in (settings.BUNDLES_DIR / name).glob("*")]
    old = [each for each in found if is_old(each, age_s)]
    if not old:
        return 0
    coming = set(Upload.objects.filter(bundle=None).values_list("key", flat=True))
    held = _held({_slug_of(each) for each in old})
    left = [each for each in old if each.name not in coming and _slug_of(each) not in held]
    for each in left:
        shutil.rmtree(each, ignore_errors=True) if each.is_dir() else each.unlink(missing_ok=True)
    return len(left)


def _held(slugs: set[str]) -> set[str]:
    """Those of bundles that a worker checks, or takes weights in from, however long that takes."""
    checked = Q(state=BundleState.CHECKING)
    taken = Q(run__submissions__intake__regrade=ASKED, run__submissions__lease__gt="")
    return set(Bundle.objects.filter(checked | taken, slug__in=slugs).values_list("slug", flat=True))


def _slug_of(folder: Path) -> str:
    """Of the bundle that was unpacked there; what follows it makes the name unique."""
    return folder.name.rpartition("-")[0].removesuffix(WEIGHTS)
