"""Celery jobs of the bundles room: parse, call one service."""

from celery import shared_task
from django.conf import settings

from benchmark.services.queueing import job_send
from benchmark.services.slots import Slots
from bundles.models import Bundle, BundleState
from bundles.services import regrade_request
from bundles.services.checking import bundle_check_next, bundle_release_lost
from bundles.services.leftovers import leftovers_remove
from bundles.services.notifications import notifications_mail
from bundles.services.regrading import regrades_note
from bundles.services.uploads import uploads_expire

_slots = Slots(settings.BUNDLE_SLOTS)


@shared_task
def bundle_check() -> None:
    """Check received bundles, oldest first, as long as this worker has a slot."""
    _slots.drain(bundle_check_next)


@shared_task
def regrades_take() -> None:
    """Take in the weights of bundles that an operator wants graded here."""
    _slots.drain(regrade_request.regrade_next)


@shared_task
def mail_send() -> None:
    """Mail the notifications that were not mailed yet."""
    notifications_mail()


@shared_task
def bundles_sweep() -> None:
    """Free what lost its worker, note what was graded here, expire, and ring again for what still waits."""
    for bundle in Bundle.objects.stale(2 * settings.HEARTBEAT_S):
        bundle_release_lost(bundle)
    regrades_note()
    regrade_request.regrades_fail()
    regrade_request.regrades_free()
    uploads_expire()
    leftovers_remove()
    if Bundle.objects.filter(state=BundleState.RECEIVED).exists():
        job_send("bundles.jobs.bundle_check")
    if regrade_request.regrades_wait():
        job_send("bundles.jobs.regrades_take")
    if settings.EMAIL_HOST:
        notifications_mail()
