"""The check of a bundle as a job: held by one worker, told live, ended as accepted or rejected."""

import logging
import shutil
import tempfile
import time
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from benchmark.services.audit import audit_record
from benchmark.services.pulse import repeated
from benchmark.services.runs import worker_name
from bundles.checking.report import Found, Report
from bundles.models import Bundle, BundleState
from bundles.services.check_process import CheckFailed, CheckGivenUp, archive_here, check_apart
from bundles.services.importing import run_import, run_unimport
from bundles.services.known import known_here
from bundles.services.notifications import notification_send
from bundles.services.regrading import run_regrades_note
from bundles.services.versions import parts_open, report_about_versions

log = logging.getLogger(__name__)
ATTEMPTS = 3
TELL_S = 0.3


def bundle_check_next() -> bool:
    """Check the oldest bundle that waits; False when there is none."""
    for bundle in Bundle.objects.filter(state=BundleState.RECEIVED).order_by("id")[:20]:
        if not archive_here(bundle):
            continue
        lease = uuid4().hex
        if Bundle.objects.move(
            bundle.pk,
            before=BundleState.RECEIVED,
            after=BundleState.CHECKING,
            lease=lease,
            worker=worker_name(),
            heartbeat_at=timezone.now(),
            attempts=F("attempts") + 1,
            phase="starting",
        ):
            bundle.refresh_from_db()
            _Check(bundle, lease).go()
            return True
    return False


class _Check:
    """One worker's hold on one bundle."""

    def __init__(self, bundle: Bundle, lease: str) -> None:
        self.bundle = bundle
        self.lease = lease
        self._lost = False
        self._told = 0.0

    def go(self) -> None:
        quarantine = Path(settings.BUNDLES_DIR) / "checking"
        quarantine.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f"{self.bundle.slug}-", dir=quarantine))
        every = min(1.0, settings.HEARTBEAT_S)
        try:
            with repeated(self._beat, every_s=every, name=f"bundle-{self.bundle.pk}"):
                report = check_apart(self.bundle, into=folder, known=known_here(), tell=self.tell)
                self._end(report, folder / "files")
        except CheckGivenUp:
            log.warning("the check of %s was given up", self.bundle)
        except CheckFailed as error:
            self._fail(f"The bundle could not be checked: {error}.")
        except Exception as error:
            log.exception("the check of %s failed", self.bundle)
            self._fail(f"The bundle could not be checked: {type(error).__name__}.")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _beat(self) -> None:
        mine = Bundle.objects.filter(pk=self.bundle.pk, lease=self.lease, state=BundleState.CHECKING)
        self._lost = not mine.update(heartbeat_at=timezone.now())

    def tell(self, phase: str, done: int = 0, of: int = 0) -> bool:
        """Say how far it is; False: the bundle is not ours any more."""
        if time.monotonic() - self._told > TELL_S or done == of:
            self._told = time.monotonic()
            mine = Bundle.objects.filter(pk=self.bundle.pk, lease=self.lease, state=BundleState.CHECKING)
            self._lost = self._lost or not mine.update(phase=phase[:40], n_done=done, n_expected=of)
        return not self._lost

    def go_on(self, phase: str, done: int = 0, of: int = 0) -> bool:
        """As `tell`. Raises: CheckGivenUp: the bundle is not ours any more."""
        if not self.tell(phase, done, of):
            raise CheckGivenUp
        return True

    def _end(self, report: Report, files: Path) -> None:
        report = report_about_versions(self.bundle, report)
        if report.refused or report.count("error"):
            self._close(BundleState.REJECTED, report)
            return
        run = run_import(self.bundle, report, files, self.go_on)
        run_regrades_note(run)
        if not self._close(BundleState.ACCEPTED, report):
            raise CheckGivenUp

    def _close(self, after: BundleState, report: Report) -> bool:
        with transaction.atomic():
            moved = Bundle.objects.move(
                self.bundle.pk,
                before=BundleState.CHECKING,
                after=after,
                held_under=self.lease,
                lease="",
                phase="",
                report=report.kept(),
                layout=report.layout,
                checked_at=timezone.now(),
            )
            if moved:
                parts_open(self.bundle, report)
                _announce(self.bundle, after, report)
        return moved

    def _fail(self, text: str) -> None:
        """A fault of ours: tried again while attempts are left."""
        _again_or_never(self.bundle, self.lease, text)


def _announce(bundle: Bundle, after: BundleState, report: Report) -> None:
    audit_record(actor=None, action=f"bundle.{after}", subject=bundle, errors=report.count("error"))
    told = (
        "was checked and waits for a moderator"
        if after == BundleState.ACCEPTED
        else "cannot be accepted as it is; the report says how to mend it"
    )
    notification_send(user=bundle.owner, text=f"{bundle.filename} {told}.", path=f"/bundles/{bundle.slug}/")


def bundle_release_lost(bundle: Bundle) -> None:
    """The worker of this bundle is gone: back into the queue, or given up after some attempts."""
    _again_or_never(bundle, bundle.lease, "The worker that checked the bundle was lost.")


def _again_or_never(bundle: Bundle, lease: str, text: str) -> None:
    if bundle.attempts < ATTEMPTS:
        Bundle.objects.move(
            bundle.pk, before=BundleState.CHECKING, after=BundleState.RECEIVED, held_under=lease, lease="", phase=""
        )
        return
    fix = "This is a fault of the platform, not of the bundle: a moderator can have it checked again."
    report = Report(findings=(Found("check_fault", "error", "Platform", text, fix=fix),))
    with transaction.atomic():
        if Bundle.objects.move(
            bundle.pk,
            before=BundleState.CHECKING,
            after=BundleState.REJECTED,
            held_under=lease,
            lease="",
            phase="",
            report=report.kept(),
            checked_at=timezone.now(),
        ):
            run_unimport(bundle)
            _announce(bundle, BundleState.REJECTED, report)
