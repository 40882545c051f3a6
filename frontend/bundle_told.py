"""A bundle as JSON, for the report's file and the API."""

from typing import Any

from django.urls import reverse

from bundles.models import Bundle


def bundle_row(bundle: Bundle, reader: Any) -> dict[str, Any]:
    """Without its report, as `reader` may see it. Times are ISO 8601, sizes bytes."""
    return {
        "bundle": bundle.slug,
        "state": bundle.state,
        "filename": bundle.filename,
        "size": bundle.size,
        "sha256": bundle.sha256,
        "layout": bundle.layout,
        "part": bundle.part,
        "version": bundle.version,
        "version_of": bundle.version_of.slug if bundle.version_of else None,
        "run": bundle.run.slug if bundle.run else None,
        "trust": bundle.run.trust if bundle.run else None,
        "owner": bundle.owner.get_username(),
        "asked": bundle.asked if bundle.may_change(reader) else "",
        "created_at": bundle.created_at.isoformat(),
        "checked_at": bundle.checked_at.isoformat() if bundle.checked_at else None,
        "moderated_at": bundle.moderated_at.isoformat() if bundle.moderated_at else None,
        "page": reverse("bundle", args=[bundle.slug]),
    }


def bundle_data(bundle: Bundle, reader: Any) -> dict[str, Any]:
    """With its report, or how far its check is."""
    progress = {"phase": bundle.phase, "done": bundle.n_done, "of": bundle.n_expected} if bundle.in_check else None
    return bundle_row(bundle, reader) | {"progress": progress, "report": bundle.report or None}
