"""Hosts join with one command, show what they are for, and leave."""

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from benchmark.models import Host, Worker, secret_hash, secret_new
from benchmark.services.audit import audit_record

ENROL_FOR = timedelta(hours=24)
QUEUES = ("agents", "grading")


@dataclass(frozen=True)
class Joined:
    """What a host gets once: its own token, and the settings of its workers."""

    host: Host
    environment: dict[str, str]


def host_enrol(*, name: str, queues: list[str], actor: User | None) -> str:
    """A token with which that host may join within a day; what it had before is good no longer.

    Raises: ValidationError: by field.
    """
    problems = {}
    if not queues or set(queues) - set(QUEUES):
        problems["queues"] = f"Queues are {' and '.join(QUEUES)}; default is the web server's own."
    host = Host.objects.filter(name=name).first() or Host(name=name, created_by=actor)
    host.queues = queues
    try:
        host.clean_fields(exclude=[field.name for field in Host._meta.fields if field.name != "name"])
    except ValidationError as error:
        problems["name"] = error.messages[0]
    if problems:
        raise ValidationError(problems)
    token = secret_new()
    host.enrol_hash, host.enrol_until = secret_hash(token), timezone.now() + ENROL_FOR
    host.token_hash, host.joined_at, host.removed_at = "", None, None
    with transaction.atomic():
        host.save()
        audit_record(actor=actor, action="host.enrol", subject=host, name=name, queues=queues)
    return token


def host_join(*, token: str) -> Joined | None:
    """Exchange an enrolment token; None: it is not good, or not any more.

    Raises: ValidationError: this deployment does not say how other hosts reach its services.
    """
    if not (settings.HOSTS_DATABASE_URL and settings.HOSTS_REDIS_URL):
        raise ValidationError(
            "Set AGENT2_HOSTS_DATABASE_URL and AGENT2_HOSTS_REDIS_URL on the web server: how other hosts reach both."
        )
    now, own = timezone.now(), secret_new()
    good = Host.objects.filter(enrol_hash=secret_hash(token), enrol_until__gt=now, removed_at=None)
    host = good.first() if token else None
    taken = good.update(enrol_hash="", enrol_until=None, token_hash=secret_hash(own), joined_at=now) if host else 0
    if host is None or taken != 1:
        return None
    audit_record(actor=None, action="host.join", subject=host, name=host.name)
    return Joined(host, _environment(host, own))


def _environment(host: Host, token: str) -> dict[str, str]:
    return {
        "AGENT2_DEPLOYMENT": "production",
        "AGENT2_SECRET_KEY": settings.SECRET_KEY,
        "AGENT2_PUBLIC_URL": settings.PUBLIC_URL,
        "AGENT2_WORKER_URL": settings.PUBLIC_URL,
        "AGENT2_ALLOWED_HOSTS": ",".join(settings.ALLOWED_HOSTS),
        "AGENT2_DATABASE_URL": settings.HOSTS_DATABASE_URL,
        "AGENT2_REDIS_URL": settings.HOSTS_REDIS_URL,
        "AGENT2_ENGINE": settings.ENGINE,
        "AGENT2_DEVICE": settings.DEVICE,
        "AGENT2_DTYPE": settings.DTYPE,
        "AGENT2_BATCH_INVARIANT": str(int(settings.BATCH_INVARIANT)),
        "AGENT2_PLACE": host.name,
        "AGENT2_HOST_TOKEN": token,
        "AGENT2_QUEUES": ",".join(host.queues),
    }


def host_of_token(token: str) -> Host | None:
    """Who shows it."""
    return Host.objects.joined().filter(token_hash=secret_hash(token)).first() if token else None


def host_drain(*, host: Host, draining: bool, actor: User | None) -> int:
    """Tell all of its workers to take nothing more, or to go on; how many were told."""
    told = Worker.objects.live().filter(place=host.name).update(draining=draining)
    audit_record(actor=actor, action="host.drain" if draining else "host.resume", subject=host, name=host.name)
    return told


def host_remove(*, host: Host, actor: User | None) -> None:
    """Its token is good no longer; its rows stay, since runs name it."""
    now = timezone.now()
    Host.objects.filter(pk=host.pk).update(removed_at=now, token_hash="", enrol_hash="", enrol_until=None)
    audit_record(actor=actor, action="host.remove", subject=host, name=host.name)
