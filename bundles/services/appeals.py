"""Objections to a flag or a hiding."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone

from benchmark.models import Trust
from benchmark.services.audit import audit_record
from bundles.models import Appeal, AppealState, Bundle, BundleState
from bundles.services.moderation import bundle_publish, bundle_unflag, text_given
from bundles.services.notifications import notification_send


def may_appeal(bundle: Bundle) -> bool:
    """Whether something stands against the bundle, and no appeal is open."""
    flagged = bundle.run is not None and bundle.run.trust == Trust.FLAGGED
    against = flagged or bundle.state == BundleState.HIDDEN
    return against and not bundle.appeals.filter(state=AppealState.OPEN).exists()


def appeal_open(*, bundle: Bundle, author: User, text: str) -> Appeal:
    """Raises: ValidationError: there is nothing to appeal against, or an appeal is open."""
    text = text_given("text", text)
    if not may_appeal(bundle):
        raise ValidationError({"text": "There is no decision to appeal against, or an appeal waits already."})
    try:
        with transaction.atomic():
            appeal = Appeal.objects.create(bundle=bundle, author=author, text=text)
            audit_record(actor=author, action="bundle.appeal", subject=bundle, text=text)
    except IntegrityError:
        raise ValidationError({"text": "An appeal waits already."}) from None
    return appeal


def appeal_decide(*, appeal: Appeal, actor: User, uphold: bool, answer: str) -> None:
    """Upheld: the flag is taken back, and a hidden bundle is published again. Raises: ValidationError."""
    answer = text_given("answer", answer)
    state = AppealState.UPHELD if uphold else AppealState.DISMISSED
    with transaction.atomic():
        values = {"state": state, "answer": answer, "decided_by": actor, "decided_at": timezone.now()}
        if not Appeal.objects.filter(pk=appeal.pk, state=AppealState.OPEN).update(**values):
            raise ValidationError({"state": "This appeal has been decided."})
        bundle = Bundle.objects.select_related("run", "owner").get(pk=appeal.bundle_id)
        audit_record(actor=actor, action=f"appeal.{state}", subject=bundle, answer=answer)
        told = f"{bundle.filename}: your appeal was {state}. {answer}"
        notification_send(user=bundle.owner, text=told, path=f"/bundles/{bundle.slug}/")
        if uphold:
            if bundle.run is not None and bundle.run.trust == Trust.FLAGGED:
                bundle_unflag(bundle=bundle, actor=actor, reason=answer)
            if bundle.state == BundleState.HIDDEN:
                bundle_publish(bundle=bundle, actor=actor, reviewed=False)
    appeal.refresh_from_db()
