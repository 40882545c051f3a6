"""Files around bundles: the packer, the manifest's schema, and any ended run as a bundle."""

import json
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views.decorators.http import require_safe

from bundles.export.bundle import CannotExport, bundle_export
from bundles.format.schema import MANIFEST_SCHEMA
from bundles.packer.join import packer_source
from frontend.access import run_seen
from frontend.streaming import archive_sent

IN_MEMORY = 8 << 20
BLOCK = 1 << 20


@require_safe
def packer(request: HttpRequest) -> HttpResponse:
    """One file that needs nothing but Python."""
    return _file(packer_source(), "text/x-python; charset=utf-8", "agent2_pack.py")


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    return _file(json.dumps(MANIFEST_SCHEMA, indent=1) + "\n", "application/schema+json", "manifest-1.0.schema.json")


def _file(text: str, kind: str, name: str) -> HttpResponse:
    disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text, content_type=kind, headers=disposition)


@login_required
@require_safe
def run_bundle(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The run as a bundle; 409 while it goes on. Writing one takes a while, so it is for people with an account."""
    run = run_seen(request, slug)
    file = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115  (the response closes it)
    try:
        bundle_export(run=run, into=cast(BinaryIO, file))
    except CannotExport as error:
        file.close()
        return HttpResponse(str(error), status=409, content_type="text/plain; charset=utf-8")
    except BaseException:
        file.close()
        raise
    return archive_sent(request, _blocks(cast(BinaryIO, file)), size=file.tell(), filename=f"{run.slug}.zip")


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while block := file.read(BLOCK):
            yield block
