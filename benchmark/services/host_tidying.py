"""Clearing this host of what killed workers and commands left on it, whoever's work it was."""

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from benchmark.models import HELD, Run
from benchmark.ports import grading_room
from benchmark.services.sandboxes import (
    sandbox_has_process,
    sandbox_leftovers,
    sandbox_name,
    sandbox_number,
    sandbox_reap,
    sandboxes_ownerless_reap,
)

log = logging.getLogger(__name__)
YOUNG = timedelta(seconds=60)
"""What was claimed more recently is left alone: its row may be ahead of its sandbox, or behind."""


def host_tidy() -> list[str]:
    """End and remove sandboxes on this host, and their sockets, that nobody holds any more; what was removed.

    Raises: SandboxFault; DatabaseError.
    """
    removed = [*_gateways_tidied(), *_ways_out_tidied()]
    without_row = []
    for name in sandbox_leftovers():
        kind, number = sandbox_number(name)
        if kind not in _HELD:
            without_row.append(name)
        elif not _HELD[kind](number):
            sandbox_reap(name)
            removed.append(name)
    removed += sandboxes_ownerless_reap(without_row)
    for name in removed:
        log.warning("removed %s: nobody holds it", name)
    return removed


def _gateways_tidied() -> list[str]:
    """Sockets that a killed worker's gateways left in folders of runs on this host."""
    left = {path.parts[-3]: path for path in (settings.DATA_DIR / "runs").glob("*/gateway/gateway.sock")}
    held = set(Run.objects.filter(slug__in=left, state__in=HELD).values_list("slug", flat=True))
    for slug in left.keys() - held:
        left[slug].unlink(missing_ok=True)
    return [str(left[slug]) for slug in left.keys() - held]


def _ways_out_tidied() -> list[str]:
    """Sockets by which evaluations reached a judge or a search."""
    removed = []
    for path in (Path(settings.DATA_DIR) / "outside").glob("*.sock"):
        kind, number = sandbox_number(path.stem)
        held = _HELD[kind](number) if kind in _HELD else sandbox_has_process(sandbox_name(kind, number))
        if not held:
            path.unlink(missing_ok=True)
            removed.append(str(path))
    return removed


def _evaluation_held(number: int) -> bool:
    return grading_room().evaluation_held(number)


def _run_held(number: int) -> bool:
    if Run.objects.filter(pk=number, state__in=HELD).exists():
        return True
    grace = max(YOUNG, timedelta(seconds=2 * settings.HEARTBEAT_S))
    return Run.objects.filter(pk=number, ended_at__gt=timezone.now() - grace).exists()


_HELD: Mapping[str, Callable[[int], bool]] = {"run": _run_held, "evaluation": _evaluation_held}
"""By the kind of sandbox: whether somebody holds what it works for. Other kinds are a process' own."""
