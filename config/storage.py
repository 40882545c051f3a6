"""Object storage for what lasts, from the environment: none, or a bucket that speaks S3."""

import re
from importlib.util import find_spec
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from config import env

DJANGO_OWN: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "frontend.static_files.OnceCompressed"},
}
NEEDS_BUCKET = ("ENDPOINT_URL", "REGION", "PREFIX", "ACCESS_KEY", "SECRET_KEY", "ADDRESSING", "CHECKSUMS")


def storages_from_env() -> dict[str, dict[str, Any]]:
    """Django's STORAGES. `artifacts` is there only where a bucket is named: else the data folder holds everything.

    Raises: ImproperlyConfigured.
    """
    bucket = env.text("S3_BUCKET", "")
    if not bucket:
        if given := [name for name in NEEDS_BUCKET if env.text(f"S3_{name}", "")]:
            raise ImproperlyConfigured(f"Set AGENT2_S3_BUCKET as well: AGENT2_S3_{given[0]} alone names no bucket.")
        return DJANGO_OWN
    if missing := [package for package in ("storages", "boto3") if find_spec(package) is None]:
        raise ImproperlyConfigured(
            f"AGENT2_S3_BUCKET is set, but {missing[0]} is not installed here: pip install -r requirements-s3.txt"
        )
    return DJANGO_OWN | {"artifacts": {"BACKEND": "benchmark.artifacts.s3.S3Artifacts", "OPTIONS": _options(bucket)}}


def _options(bucket: str) -> dict[str, Any]:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{2,62}", bucket):
        raise ImproperlyConfigured(f"AGENT2_S3_BUCKET={bucket!r} must be 3 to 63 letters, digits and ._-")
    prefix = env.text("S3_PREFIX", "").strip("/")
    if prefix and not all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", part) for part in prefix.split("/")):
        raise ImproperlyConfigured(
            f"AGENT2_S3_PREFIX={prefix!r} must be folders of letters, digits and ._-, such as a/b."
        )
    access, secret = env.text("S3_ACCESS_KEY", ""), env.text("S3_SECRET_KEY", "")
    if bool(access) != bool(secret):
        raise ImproperlyConfigured("Set both AGENT2_S3_ACCESS_KEY and AGENT2_S3_SECRET_KEY, or neither.")
    endpoint = env.url("S3_ENDPOINT_URL", "")
    return {
        "bucket_name": bucket,
        "location": prefix,
        "endpoint_url": endpoint or None,
        "region_name": env.text("S3_REGION", "us-east-1" if endpoint else "") or None,
        "access_key": access or None,
        "secret_key": secret or None,
        "addressing_style": env.choice("S3_ADDRESSING", "path" if endpoint else "auto", ["auto", "path", "virtual"]),
        "checksums": env.flag("S3_CHECKSUMS", True),
    }
