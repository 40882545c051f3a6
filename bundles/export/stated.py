"""The manifest inside an imported run's own archive: what no row keeps, such as hardware, seeds and contact."""

import zipfile
from typing import Any

from benchmark.models import Run
from benchmark.services.artifacts import artifact_open
from bundles.dialects.agent2 import agent2_read
from bundles.dialects.facts import RunFacts
from bundles.format.jsonfile import BadJson, json_parse
from bundles.format.words import MANIFEST, MANIFEST_LIMIT
from bundles.models import Bundle


def stated_facts(run: Run) -> RunFacts | None:
    """What the bundle of `run` stated; None where it had no manifest or is not here any more."""
    bundle = Bundle.objects.filter(run=run).first()
    if bundle is None:
        return None
    manifest = _manifest(bundle)
    told = agent2_read(manifest, "")[0] if manifest else RunFacts("agent2")
    for name, value in bundle.details.items():
        if name in ("hardware", "seeds", "contact", "licence") and not getattr(told, name):
            setattr(told, name, value)
    told.contact = told.contact or ({"name": bundle.contact} if bundle.contact else {})
    told.licence = told.licence or bundle.licence
    return told


def _manifest(bundle: Bundle) -> dict[str, Any] | None:
    """Only zips are looked into: they were opened safely when they came, and one entry is read of a known size."""
    ending = f"{bundle.part}/{MANIFEST}" if bundle.part else MANIFEST
    try:
        with artifact_open(bundle.path) as whole, zipfile.ZipFile(whole) as archive:
            info = archive.getinfo(ending)
            if info.file_size > MANIFEST_LIMIT:
                return None
            with archive.open(info) as file:
                value = json_parse(file.read(MANIFEST_LIMIT))
    except (OSError, KeyError, zipfile.BadZipFile, BadJson):
        return None
    return value if isinstance(value, dict) else None
