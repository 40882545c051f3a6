"""Taking archives in: announced, sent in pieces, finished or expired."""

import hashlib
import re
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from benchmark.services.audit import audit_record
from benchmark.services.queueing import job_send_on_commit
from bundles.models import Bundle, Upload
from traces.services.ingest_rows import storable

GB = 1024**3
OPEN_MOST = 20
SUFFIXES = (".zip", ".tar.zst", ".tar.gz", ".tgz", ".tar", ".tzst", ".tar.zstd")
ODD = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control and direction characters: a name is shown on pages."""


class UploadRefused(Exception):
    """What was announced is not taken; `status` is HTTP's."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def upload_create(
    *,
    owner: User,
    length: int,
    filename: str,
    sha256: str = "",
    version_of: str = "",
    details: dict[str, Any] | None = None,
) -> Upload:
    """Announce an archive of `length` bytes; `version_of` is the slug of the bundle that it corrects.

    `details` are members of a manifest: they fill what the archive's files leave open.

    Raises: UploadRefused.
    """
    name = filename_clean(filename)
    if length < 1:
        raise UploadRefused(400, "Upload-Length must be at least 1: the archive is empty.")
    if length > size_most():
        raise UploadRefused(413, f"The archive has {length} bytes; at most {size_most()} are taken.")
    if sha256 and not re.fullmatch(r"[0-9a-f]{64}", sha256):
        raise UploadRefused(400, "sha256 must be 64 hexadecimal digits in lower case.")
    corrected = _corrected(owner, version_of) if version_of else None
    with transaction.atomic():
        User.objects.select_for_update().get(pk=owner.pk)
        _quota_check(owner, length)
        upload = Upload.objects.create(
            owner=owner,
            filename=name,
            length=length,
            sha256=sha256,
            details=details or {},
            version_of=corrected,
            expires_at=timezone.now() + timedelta(hours=settings.BUNDLE_UPLOAD_HOURS),
        )
        upload.path.parent.mkdir(parents=True, exist_ok=True)
        upload.path.touch(mode=0o600, exist_ok=False)
    return upload


def size_most() -> int:
    """Bytes of the largest archive that is taken."""
    return int(settings.BUNDLE_MAX_GB * GB)


def filename_clean(filename: str) -> str:
    """The last part of the name without what would confuse a page. Raises: UploadRefused."""
    name = ODD.sub("�", storable(filename)).replace("\\", "/").rsplit("/", 1)[-1].strip()[-200:]
    if not name:
        raise UploadRefused(400, 'Upload-Metadata must name the file: "filename <base64 of its name>".')
    if not name.lower().endswith(SUFFIXES):
        raise UploadRefused(400, f"filename: {name} must end in one of {', '.join(SUFFIXES)}.")
    return name


def quota_used(owner: User) -> int:
    """Bytes of the account's bundles, and of its uploads on their way as they were announced."""
    kept = Bundle.objects.filter(owner=owner, part_of=None).aggregate(total=Sum("size"))["total"] or 0
    coming = Upload.objects.filter(owner=owner).open().aggregate(total=Sum("length"))["total"] or 0
    return int(kept + coming)


def _quota_check(owner: User, length: int) -> None:
    if Upload.objects.filter(owner=owner).open().count() >= OPEN_MOST:
        raise UploadRefused(429, f"{OPEN_MOST} uploads of this account are not finished; finish or delete some first.")
    most, used = int(settings.BUNDLE_QUOTA_GB * GB), quota_used(owner)
    if used + length > most:
        raise UploadRefused(
            413, f"The account's quota is {most} bytes, {used} of them used; {length} more are too many."
        )
    settings.BUNDLES_DIR.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(settings.BUNDLES_DIR).free < 2 * length:
        raise UploadRefused(507, "The server has too little disk left for this archive; try again later.")


def _corrected(owner: User, slug: str) -> Bundle:
    found = Bundle.objects.filter(slug=slug, owner=owner).first()
    if found is None:
        raise UploadRefused(400, f"version_of: you have no bundle {slug[:60]}.")
    return found


def upload_finish(upload: Upload) -> Bundle:
    """Every byte has arrived: hash it, keep it, and queue its check. Called again, answers the same bundle.

    Raises: UploadRefused: the digest is not the announced one; the upload is deleted.
    """
    if upload.bundle is not None:
        return upload.bundle
    try:
        digest = file_sha256(upload.path)
    except FileNotFoundError:
        upload.refresh_from_db()  # another request has just finished it
        if upload.bundle is None:
            raise
        return upload.bundle
    if upload.sha256 and upload.sha256 != digest:
        upload_delete(upload)
        raise UploadRefused(460, f"The bytes that arrived have SHA-256 {digest}, not {upload.sha256}; send them again.")
    with transaction.atomic():
        upload = Upload.objects.select_for_update().get(pk=upload.pk)
        if upload.bundle is not None:
            return upload.bundle
        bundle = _known(upload, digest) or _kept(upload, digest)
        Upload.objects.filter(pk=upload.pk).update(bundle=bundle, sha256=digest)
    upload.path.unlink(missing_ok=True)
    return bundle


def _known(upload: Upload, digest: str) -> Bundle | None:
    """The same bytes from the same account are the same bundle, unless they are sent as a correction of another."""
    same = Bundle.objects.filter(owner_id=upload.owner_id, sha256=digest, part_of=None).order_by("id")
    found = same.first()
    return None if found is None or (upload.version_of_id not in (None, found.pk, found.version_of_id)) else found


def _kept(upload: Upload, digest: str) -> Bundle:
    before = upload.version_of
    last = before.later.order_by("-version").first() if before else None
    bundle = Bundle(
        owner_id=upload.owner_id,
        filename=upload.filename,
        size=upload.length,
        sha256=digest,
        details=upload.details,
        version_of=before,
        version=max(before.version, last.version if last else 0) + 1 if before else 1,
    )
    suffix = next(end for end in SUFFIXES if upload.filename.lower().endswith(end))
    bundle.stored = f"kept/{digest[:2]}/{bundle.slug}{suffix}"
    bundle.path.parent.mkdir(parents=True, exist_ok=True)
    # A link first, the row after it, the name in quarantine last: killed anywhere in between, nothing is lost.
    bundle.path.unlink(missing_ok=True)
    bundle.path.hardlink_to(upload.path)
    bundle.path.chmod(0o440)
    bundle.save(force_insert=True)
    audit_record(actor=upload.owner, action="bundle.upload", subject=bundle, sha256=digest, size=bundle.size)
    job_send_on_commit("bundles.jobs.bundle_check")
    return bundle


def upload_delete(upload: Upload) -> None:
    """Forget an upload that is not wanted any more, or not in time."""
    upload.path.unlink(missing_ok=True)
    Upload.objects.filter(pk=upload.pk, bundle=None).delete()


def uploads_expire() -> int:
    """Delete uploads that waited too long; how many."""
    late = list(Upload.objects.expired().filter(bundle=None)[:1000])
    for upload in late:
        upload_delete(upload)
    Upload.objects.expired().filter(bundle__isnull=False).delete()
    return len(late)


def file_sha256(path: Path) -> str:
    """Raises: OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
