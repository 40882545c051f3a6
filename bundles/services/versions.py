"""Versions of a bundle, and the same archive from elsewhere."""

from dataclasses import replace

from benchmark.services.queueing import job_send_on_commit
from bundles.checking.report import Found, Report
from bundles.models import Bundle


def versions_of(bundle: Bundle) -> list[Bundle]:
    """Every version of the bundle, the oldest first, itself included."""
    first = bundle
    while first.version_of is not None:
        first = first.version_of
    found, level = [first], [first.pk]
    while level:
        later = list(Bundle.objects.filter(version_of__in=level).order_by("id"))
        found += later
        level = [each.pk for each in later]
    return sorted(found, key=lambda each: (each.version, each.pk))


def report_about_versions(bundle: Bundle, report: Report) -> Report:
    """The report, with a finding when another account sent the very same archive before."""
    same = (
        Bundle.objects.filter(sha256=bundle.sha256, pk__lt=bundle.pk, part_of=None)
        .exclude(owner=bundle.owner_id)
        .first()
    )
    if same is None:
        return report
    found = Found(
        "same_archive",
        "warning",
        "Contradiction",
        "Another account uploaded the very same archive before",
        f"It came on {same.created_at:%Y-%m-%d}, with the same SHA-256.",
        "If both accounts are yours, tell a moderator.",
    )
    return replace(report, findings=(*report.findings, found))


def parts_open(bundle: Bundle, report: Report) -> None:
    """A bundle of its own for every further run of the archive, in the caller's transaction."""
    if bundle.part_of is not None or len(report.parts) < 2 or bundle.parts.exists():
        return
    first, *others = report.parts
    Bundle.objects.filter(pk=bundle.pk).update(part=first)
    Bundle.objects.bulk_create(
        Bundle(
            owner_id=bundle.owner_id,
            filename=bundle.filename,
            size=bundle.size,
            sha256=bundle.sha256,
            stored=bundle.stored,
            details=bundle.details,
            part=part,
            part_of=bundle,
        )
        for part in others
    )
    job_send_on_commit("bundles.jobs.bundle_check")
