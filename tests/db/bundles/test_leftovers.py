"""What long work on bundles keeps: its folder in quarantine, and its hold."""

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from benchmark.models import Origin
from bundles.jobs import bundles_sweep
from bundles.models import Bundle, BundleState
from bundles.services import regrade_request
from grading.models import Submission
from tests.db.bundles.conftest import Make, run_of
from tests.support.people import person
from tests.support.rows import run_row, submission_row

pytestmark = pytest.mark.django_db(transaction=True)


def weights_of(bundle: Bundle, **values: Any) -> Submission:
    """A submission of the accepted bundle that an operator wants graded here."""
    run = run_row(origin=Origin.EXTERNAL)
    Bundle.objects.filter(pk=bundle.pk).update(state=BundleState.ACCEPTED, run=run)
    return submission_row(run, intake={"regrade": "asked"}, **values)


def test_what_a_worker_still_works_with_is_not_removed(received: Make, settings: Any) -> None:
    checked, taken, left = (received(user=person(name, "submitter")) for name in ("checked", "taken", "left"))
    Bundle.objects.filter(pk=checked.pk).update(state=BundleState.CHECKING, lease="l", heartbeat_at=timezone.now())
    weights_of(taken, lease="l", lease_at=timezone.now())
    Bundle.objects.filter(pk=left.pk).update(state=BundleState.REJECTED)
    checking = Path(settings.BUNDLES_DIR) / "checking"
    for name in (f"{checked.slug}-x_1", f"{taken.slug}-weights-x_2", f"{left.slug}-x_3"):
        (checking / name).mkdir(parents=True)
        os.utime(checking / name, (1, 1))
    bundles_sweep()
    assert {path.name for path in checking.iterdir()} == {f"{checked.slug}-x_1", f"{taken.slug}-weights-x_2"}


def test_weights_that_take_long_stay_with_their_worker(received: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    submission = weights_of(received())
    long_ago = timezone.now() - timedelta(days=1)
    mine = Submission.objects.filter(pk=submission.pk)

    def slow(_: Submission) -> None:
        mine.update(lease_at=long_ago)
        deadline = time.monotonic() + 60
        while mine.filter(lease_at=long_ago).exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        regrade_request.regrades_free()
        assert mine.exclude(lease="").exists()

    monkeypatch.setattr(regrade_request, "BEAT_S", 0.05)
    monkeypatch.setattr(regrade_request, "_take", slow)
    assert regrade_request.regrade_next()
    assert run_of(Bundle.objects.get()) == submission.run
