"""Telling people on the site, and by e-mail where that is configured."""

import logging
from smtplib import SMTPException

from django.conf import settings
from django.contrib.auth.models import User
from django.core.mail import send_mail
from django.utils import timezone

from benchmark.services.queueing import job_send_on_commit
from bundles.models import Notification

log = logging.getLogger(__name__)
AT_A_TIME = 50


def notification_send(*, user: User, text: str, path: str = "") -> Notification:
    """One message, in the caller's transaction."""
    made = Notification.objects.create(user=user, text=text, path=path)
    if settings.EMAIL_HOST and user.email:
        job_send_on_commit("bundles.jobs.mail_send")
    return made


def notifications_read(user: User) -> int:
    """Mark all as read; how many were not."""
    return Notification.objects.filter(user=user).unread().update(read_at=timezone.now())


def notifications_mail() -> int:
    """Mail what waits to be mailed; how many. What a mail server does not take now is tried again by the sweep."""
    waiting = Notification.objects.filter(mailed_at=None).exclude(user__email="").select_related("user")
    sent = 0
    for each in waiting.order_by("id")[:AT_A_TIME]:
        # Marked first: a second worker or a crash must not mail it twice.
        if not Notification.objects.filter(pk=each.pk, mailed_at=None).update(mailed_at=timezone.now()):
            continue
        body = f"{each.text}\n\n{settings.PUBLIC_URL}{each.path}\n"
        try:
            send_mail("Agent² RL-Bench: " + " ".join(each.text.split())[:120], body, None, [each.user.email])
        except (OSError, SMTPException) as error:
            log.warning("could not mail a notification: %s", error)
            Notification.objects.filter(pk=each.pk).update(mailed_at=None)
            return sent
        sent += 1
    return sent
