"""Sending a bundle by tus 1.0, so that a cut anywhere costs only what was on its way."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

TUS = "1.0.0"
CHUNK = 8 << 20
TRIES = 6
AGAIN = (408, 409, 423, 429, 500, 502, 503, 504, 507)
"""Answers after which the same is tried once more."""
Progress = Callable[[int, int], None]
Answer = tuple[int, dict[str, str], str]
"""Status, headers in lower case, text."""


class UploadFailed(Exception):
    """The server's own words, or what lies between."""


class Uploader:
    """One bundle to one platform. `url` is the platform's address; the token has the right to submit."""

    def __init__(self, url: str, token: str, bundle: Path, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._url = url.rstrip("/") + "/"
        self._token = token
        self._bundle = bundle
        self._sleep = sleep
        self._state = bundle.with_name(bundle.name + ".upload.json")

    def send(self, progress: Progress, details: dict[str, Any] | None = None, version_of: str = "") -> str:
        """Upload, or go on where it was cut. The bundle's address. Raises: UploadFailed; OSError."""
        size, digest = self._bundle.stat().st_size, _digest(self._bundle)
        place = self._known(digest)
        offset, answer = self._offset(place) if place else (-1, {})
        if offset < 0:
            place = self._announce(size, digest, details or {}, version_of)
            self._remember(place, digest)
            offset, answer = 0, {}
        tries = 0
        while offset < size or "bundle-location" not in answer:
            progress(offset, size)
            before = offset
            try:
                offset, answer = self._piece(place, offset)
            except (OSError, http.client.HTTPException, _Again) as error:
                tries = 0 if offset > before else tries + 1
                if tries >= TRIES:
                    raise UploadFailed(f"{error or type(error).__name__}. Run the same again to go on.") from error
                self._sleep(min(30.0, 0.5 * 2**tries))
                offset, answer = self._again(place, offset)
            else:
                tries = 0
        progress(size, size)
        if answer.get("bundle-sha256") not in (None, digest):
            raise UploadFailed(f"The platform has SHA-256 {answer['bundle-sha256']}, this file has {digest}.")
        self._state.unlink(missing_ok=True)
        return urljoin(self._url, answer["bundle-location"])

    def _again(self, place: str, offset: int) -> tuple[int, dict[str, str]]:
        try:
            found, answer = self._offset(place)
        except (OSError, http.client.HTTPException, _Again):
            return offset, {}
        if found < 0:
            raise UploadFailed("The upload has expired. Run the same again to begin anew.")
        return found, answer

    def _announce(self, size: int, digest: str, details: dict[str, Any], version_of: str) -> str:
        told = {"filename": self._bundle.name, "sha256": digest, "version_of": version_of}
        told["details"] = json.dumps(details) if details else ""
        pairs = [f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in told.items() if value]
        headers = {"Upload-Length": str(size), "Upload-Metadata": ",".join(pairs), "Content-Length": "0"}
        status, answer, text = self._ask("POST", urljoin(self._url, "bundles/upload/"), headers)
        if status in (301, 302, 307, 308):
            raise UploadFailed(f"{status}: the platform answers at {answer.get('location')}; give that as --url.")
        if status != 201:
            raise UploadFailed(f"{status}: {text or 'the upload was not accepted'}")
        return urljoin(self._url, answer["location"])

    def _offset(self, place: str) -> tuple[int, dict[str, str]]:
        """How much has arrived; -1: the platform knows of no such upload."""
        status, answer, text = self._ask("HEAD", place, {})
        if status in (403, 404, 410):
            return -1, {}
        if status in AGAIN:
            raise _Again(f"{status}: {text}")
        if status != 200:
            raise UploadFailed(f"{status}: {text}")
        return int(answer["upload-offset"]), answer

    def _piece(self, place: str, offset: int) -> tuple[int, dict[str, str]]:
        with self._bundle.open("rb") as file:
            file.seek(offset)
            data = file.read(CHUNK)
        headers = {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
        status, answer, text = self._ask("PATCH", place, headers, data)
        if status in AGAIN:
            raise _Again(f"{status}: {text}")
        if status != 204:
            raise UploadFailed(f"{status}: {text}")
        return int(answer["upload-offset"]), answer

    def outcome(self, page: str) -> dict[str, Any]:
        """What the API says of the bundle at `page` now. Raises: UploadFailed; OSError."""
        slug = page.rstrip("/").rsplit("/", 1)[-1]
        status, _, text = self._ask("GET", urljoin(self._url, f"api/v1/bundles/{slug}/"), {})
        if status != 200:
            raise UploadFailed(f"{status}: {text}")
        value = json.loads(text)
        return value if isinstance(value, dict) else {}

    def _ask(
        self, method: str, url: str, headers: dict[str, str], body: bytes = b""
    ) -> tuple[int, dict[str, str], str]:
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        if secure:
            link: Any = http.client.HTTPSConnection(parts.netloc, timeout=60, context=ssl.create_default_context())
        else:
            link = http.client.HTTPConnection(parts.netloc, timeout=60)
        try:
            path = parts.path + (f"?{parts.query}" if parts.query else "")
            every = {"Tus-Resumable": TUS, "Authorization": f"Bearer {self._token}", "Accept": "application/json"}
            link.request(method, path, body=body if method == "PATCH" else None, headers={**every, **headers})
            answer = link.getresponse()
            text = answer.read(64 << 20).decode("utf-8", "replace")
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text.strip()
        finally:
            link.close()

    def _known(self, digest: str) -> str:
        """Where an earlier call began to send the same file."""
        try:
            state = json.loads(self._state.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return ""
        same = isinstance(state, dict) and state.get("sha256") == digest and state.get("url") == self._url
        return str(state.get("place", "")) if same else ""

    def _remember(self, place: str, digest: str) -> None:
        self._state.write_text(json.dumps({"url": self._url, "place": place, "sha256": digest}), encoding="utf-8")


class _Again(Exception):
    """Worth another try."""


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()
