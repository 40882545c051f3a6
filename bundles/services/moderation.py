"""What a moderator does with a bundle. Each changes it in one transaction, records it and tells the submitter."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from benchmark.models import Run, Trust
from benchmark.services.audit import audit_record
from benchmark.services.queueing import job_send_on_commit
from bundles.models import ACCEPTED, Bundle, BundleState
from bundles.services.notifications import notification_send
from bundles.services.trust import trust_raise, trust_set
from bundles.services.versions import versions_of
from grading.models import TaskStanding
from traces.services.ingest_rows import storable

TEXT_MOST = 4000


@contextmanager
def _moderating(bundle: Bundle, *states: BundleState) -> Iterator[Bundle]:
    """The bundle's locked row, if it is in one of `states`. Raises: ValidationError."""
    with transaction.atomic():
        row = Bundle.objects.select_for_update().get(pk=bundle.pk)
        if row.state not in states:
            told = " or ".join(states)
            raise ValidationError({"state": f"This bundle is {row.state}; only one that is {told} can be changed so."})
        yield row
        row.save()
        bundle.refresh_from_db()


def _done(bundle: Bundle, actor: User, action: str, told: str, **data: Any) -> None:
    bundle.moderated_at, bundle.moderated_by = timezone.now(), actor
    audit_record(actor=actor, action=f"bundle.{action}", subject=bundle, **data)
    notification_send(user=bundle.owner, text=f"{bundle.filename}: {told}", path=f"/bundles/{bundle.slug}/")


def text_given(name: str, text: str) -> str:
    """Raises: ValidationError: there is none, or too much."""
    clean = storable(text.strip())
    if not clean:
        raise ValidationError({name: "Write a sentence: the submitter reads it."})
    if len(clean) > TEXT_MOST:
        raise ValidationError({name: f"At most {TEXT_MOST} characters."})
    return clean


def publication_lacks(bundle: Bundle) -> list[str]:
    """What must be stated before the bundle can be published."""
    claim = bundle.report.get("claim", {})
    return [name for name in ("contact", "licence") if not (getattr(bundle, name) or claim.get(name))]


def bundle_publish(*, bundle: Bundle, actor: User, reviewed: bool) -> None:
    """Show the run to everybody, as reviewed if the moderator has read it. Earlier versions are hidden.

    Raises: ValidationError.
    """
    if lacks := publication_lacks(bundle):
        raise ValidationError({"licence": f"The bundle states no {' and no '.join(lacks)}: ask its submitter."})
    with _moderating(bundle, BundleState.ACCEPTED, BundleState.HIDDEN) as row:
        run = _run(row)
        row.state, row.asked = BundleState.PUBLISHED, ""
        Run.objects.filter(pk=run.pk).update(hidden=False)
        if reviewed:
            trust_raise(run, Trust.REVIEWED, actor=actor, reason="read by a moderator")
        for earlier in versions_of(row):
            if earlier.version < row.version and earlier.state == BundleState.PUBLISHED:
                bundle_hide(bundle=earlier, actor=actor, reason=f"Version {row.version} takes its place.")
        _done(row, actor, "publish", "it is published.", reviewed=reviewed)


def bundle_hide(*, bundle: Bundle, actor: User, reason: str) -> None:
    """Only its owner and moderators see it from now on. Raises: ValidationError."""
    reason = text_given("reason", reason)
    with _moderating(bundle, BundleState.ACCEPTED, BundleState.PUBLISHED) as row:
        row.state = BundleState.HIDDEN
        Run.objects.filter(pk=_run(row).pk).update(hidden=True)
        _done(row, actor, "hide", f"it is hidden. {reason}", reason=reason)


def bundle_flag(*, bundle: Bundle, actor: User, reason: str, final: float | None) -> None:
    """Raw score, final score (None: none) and reason stand side by side from now on. Raises: ValidationError."""
    reason = text_given("reason", reason)
    if final is not None and not 0.0 <= final <= 100.0:
        raise ValidationError({"final": "A score lies between 0 and 100; leave it empty for none."})
    with _moderating(bundle, *ACCEPTED) as row:
        run = _run(row)
        if run.trust != Trust.FLAGGED:
            row.trust_before = run.trust
        trust_set(run, Trust.FLAGGED, actor=actor, reason=reason)
        TaskStanding.objects.filter(run=run).update(flag_reason=reason, final=final)
        _done(row, actor, "flag", f"its score is flagged. {reason}", reason=reason, final=final)


def bundle_unflag(*, bundle: Bundle, actor: User, reason: str) -> None:
    """Take the flag back: the raw score counts again. Raises: ValidationError."""
    reason = text_given("reason", reason)
    with _moderating(bundle, *ACCEPTED) as row:
        run = _run(row)
        if run.trust != Trust.FLAGGED:
            raise ValidationError({"state": "This bundle is not flagged."})
        trust_set(run, row.trust_before or Trust.CLAIMED, actor=actor, reason=reason)
        row.trust_before = ""
        TaskStanding.objects.filter(run=run).update(flag_reason="", final=None)
        _done(row, actor, "unflag", f"the flag is taken back. {reason}", reason=reason)


def bundle_ask(*, bundle: Bundle, actor: User, text: str) -> None:
    """Ask the submitter for changes; a corrected upload is a new version. Raises: ValidationError."""
    text = text_given("text", text)
    with _moderating(bundle, *ACCEPTED) as row:
        row.asked = text
        _done(row, actor, "ask", f"a moderator asks for changes. {text}", text=text)


def bundle_recheck(*, bundle: Bundle, actor: User) -> None:
    """Have a rejected bundle checked once more, as after a fault of ours. Raises: ValidationError."""
    with _moderating(bundle, BundleState.REJECTED) as row:
        row.state, row.attempts, row.report, row.checked_at = BundleState.RECEIVED, 0, {}, None
        _done(row, actor, "recheck", "it is checked once more.")
        job_send_on_commit("bundles.jobs.bundle_check")


def bundle_state_terms(*, bundle: Bundle, actor: User, contact: str, licence: str) -> None:
    """The owner's contact and licence, where the archive lacks them. Raises: ValidationError."""
    given = {"contact": storable(contact.strip()), "licence": storable(licence.strip())}
    problems = {name: "Say it in a few words." for name, value in given.items() if not value}
    problems |= {
        name: f"At most {most} characters."
        for name, most in (("contact", 200), ("licence", 100))
        if len(given[name]) > most
    }
    if problems:
        raise ValidationError(problems)
    with transaction.atomic():
        Bundle.objects.filter(pk=bundle.pk).update(**given)
        audit_record(actor=actor, action="bundle.terms", subject=bundle, **given)
    bundle.refresh_from_db()


def _run(bundle: Bundle) -> Run:
    if bundle.run is None:
        raise ValidationError({"state": "The run of this bundle is gone."})
    return bundle.run
