"""How far a run's numbers are trusted: claimed → checked → reviewed → regraded, or flagged."""

from django.contrib.auth.models import User

from benchmark.models import Run, Trust
from benchmark.services.audit import audit_record

RUNGS = (Trust.CLAIMED, Trust.CHECKED, Trust.REVIEWED, Trust.REGRADED)


def trust_set(run: Run, trust: Trust | str, *, actor: User | None, reason: str = "") -> bool:
    """Set it and record who did so and why, in the caller's transaction; False: it was so already."""
    before = run.trust
    if before == trust or not Run.objects.filter(pk=run.pk, trust=before).update(trust=trust):
        return False
    run.trust = str(trust)
    audit_record(actor=actor, action="run.trust", subject=run, before=before, after=str(trust), reason=reason)
    return True


def trust_raise(run: Run, trust: Trust, *, actor: User | None, reason: str = "") -> bool:
    """The same, unless the run stands as high already or is flagged."""
    if run.trust == Trust.FLAGGED or run.trust not in RUNGS or RUNGS.index(Trust(run.trust)) >= RUNGS.index(trust):
        return False
    return trust_set(run, trust, actor=actor, reason=reason)
