"""The store of code: every distinct content once, named by its SHA-256, outside of any sandbox."""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from django.conf import settings

from benchmark.masking import Masker
from benchmark.models import secret_hash
from benchmark.services.artifacts import artifact_local

TOKEN = re.compile(rb"[A-Za-z0-9_-]{43,4096}")
carried: Callable[[str, bytes], None] | None = None
"""Told of code that is new here, on hosts that share no disk with the web server. Raises: OSError."""
TOKEN_CHARS = 43
"""Of a run's token: 32 bytes in URL-safe base64."""


def code_store() -> Path:
    return Path(settings.TRACES_DIR) / "code"


def blob_path(digest: str) -> Path:
    return code_store() / digest[:2] / digest


def blob_put(content: bytes) -> str:
    """Keep `content`; its SHA-256. Raises: OSError."""
    digest = hashlib.sha256(content).hexdigest()
    path = blob_path(digest)
    try:
        os.utime(path)  # young again: `manage.py prune` takes only what is old and that no row names
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{uuid4().hex}")
        try:
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o640), "wb") as file:
                file.write(content)
            fresh.rename(path)
        finally:
            fresh.unlink(missing_ok=True)
        if carried is not None:
            carried(digest, content)
    return digest


def blob_get(digest: str) -> bytes:
    """Raises: OSError: it is not here."""
    return blob_local(digest).read_bytes()


def blob_local(digest: str) -> Path:
    """Its place in the store, brought there from object storage where it has to be. Raises: OSError."""
    return artifact_local(blob_path(digest), sha256=digest)


def masked(content: bytes, token_hash: str) -> tuple[bytes, int]:
    """`content` without the shapes of secrets and without the run's token, and how many were masked."""
    masker = Masker(tokens_in(content, token_hash))
    return masker.mask(content), masker.count


def tokens_in(content: bytes, token_hash: str) -> tuple[str, ...]:
    """The run's token, if `content` holds it: only its hash is stored, so what looks like a token is hashed."""
    if not token_hash:
        return ()
    for found in TOKEN.finditer(content):
        text = found[0].decode()
        for start in range(len(text) - TOKEN_CHARS + 1):
            word = text[start : start + TOKEN_CHARS]
            if secret_hash(word) == token_hash:
                return (word,)
    return ()
