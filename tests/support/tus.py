"""A tus client that can be told where to break off."""

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

TUS = {"Tus-Resumable": "1.0.0"}
OCTETS = {"Content-Type": "application/offset+octet-stream"}


def metadata(**told: str) -> str:
    return ",".join(f"{name} {base64.b64encode(value.encode()).decode()}" for name, value in told.items() if value)


class Tus:
    """One person's uploads, by API token."""

    def __init__(self, http: httpx.Client, url: str, token: str) -> None:
        self.http, self.url = http, url
        self.headers = TUS | {"Authorization": f"Bearer {token}"}

    def announce(self, size: int, filename: str, details: Mapping[str, Any] | None = None, **told: str) -> str:
        """The upload's address."""
        if details:
            told["details"] = json.dumps(details)
        headers = {"Upload-Length": str(size), "Upload-Metadata": metadata(filename=filename, **told)}
        answer = self.http.post(f"{self.url}/bundles/upload/", headers=self.headers | headers)
        assert answer.status_code == 201, f"{answer.status_code} {answer.text}"
        return str(answer.headers["Location"])

    def patch(self, place: str, offset: int, data: bytes | Iterator[bytes]) -> httpx.Response:
        headers = self.headers | OCTETS | {"Upload-Offset": str(offset)}
        return self.http.patch(self.url + place, headers=headers, content=data, timeout=120)

    def head(self, place: str) -> httpx.Response:
        return self.http.head(self.url + place, headers=self.headers)

    def send(self, path: Path, filename: str = "", **told: Any) -> httpx.Response:
        """The whole file; the last answer."""
        data = path.read_bytes()
        return self.patch(self.announce(len(data), filename or path.name, **told), 0, data)
