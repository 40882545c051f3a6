"""Where the site is, and the embedded default's own key."""

import contextlib
import os
import tempfile
from errno import EACCES
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from django.http.request import validate_host


def site_hosts(hosts: list[str], public_url: str) -> list[str]:
    """The host names that the site answers to.

    Raises: ImproperlyConfigured: there are none, or its public address has another.
    """
    if not hosts:
        raise ImproperlyConfigured("Set AGENT2_ALLOWED_HOSTS: the host names this site answers to, comma-separated.")
    parts = urlsplit(public_url)
    name = parts.hostname or ""
    if parts.path or parts.query:
        raise ImproperlyConfigured("AGENT2_PUBLIC_URL must end with the host or its port: the site needs a host alone.")
    if not validate_host(f"[{name}]" if ":" in name else name, hosts):
        raise ImproperlyConfigured(f"AGENT2_ALLOWED_HOSTS must name {name}, the host of AGENT2_PUBLIC_URL, too.")
    return hosts


def kept_secret(path: Path) -> str:
    """Made once, readable by its owner alone. Raises: ImproperlyConfigured: its folder cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent, os.W_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
        if path.exists() and not path.stat().st_size:
            path.unlink()
        if not path.exists():
            _written_once(path, get_random_secret_key())
        return path.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"{path.parent} cannot be used ({error.strerror}): set AGENT2_DATA_DIR to a folder that can be written."
        ) from None


def _written_once(path: Path, text: str) -> None:
    """Under its name at once and whole. Of several processes that begin together the first one's stays."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name) as file:  # of mode 0600
        file.write(text)
        file.flush()
        with contextlib.suppress(FileExistsError):
            os.link(file.name, path)
