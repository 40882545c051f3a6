"""Which archives are sealed: what object storage may hold."""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet

from benchmark.services.artifacts_sources import Source
from bundles.models import Bundle


def _bundles() -> QuerySet[Bundle]:
    """They lie on the web server's disk. A further run of an archive has no archive of its own."""
    return Bundle.objects.filter(part_of=None) if not settings.PLACE else Bundle.objects.none()


def _archive(bundle: Bundle) -> Mapping[Path, str]:
    return {bundle.path: bundle.sha256}


SOURCES = (Source("bundle", "slug", _bundles, _archive),)
