"""Sealed files in a bucket that speaks S3, through django-storages and boto3."""

import base64
import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

from benchmark.artifacts.contract import AlreadyOther, Damaged, Listed, StorageUnavailable

PART = 16 << 20
"""Bytes of a part where an object is sent in several; its checksum is one over those of the parts."""
BLOCK = 1 << 20
AHEAD = 1 << 18
READ_AGAIN = 3
GONE = ("404", "NoSuchKey", "NotFound")


class S3Artifacts(S3Storage):  # type: ignore[misc]
    """`benchmark.artifacts.contract.ArtifactStorage`. An object's SHA-256 is noted in its metadata.

    With `checksums` the store itself checks what arrives; one that cannot is asked to send everything back once.
    """

    checksums: bool

    def get_default_settings(self) -> dict[str, Any]:
        """Keys are options, or found by boto3 itself; a session's token in the environment fits no given key."""
        own = dict.fromkeys(("access_key", "secret_key", "security_token", "session_profile"))
        return super().get_default_settings() | own | {"checksums": True}  # type: ignore[no-any-return]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.client_config = Config(
            signature_version="s3v4",
            s3={"addressing_style": self.addressing_style},
            retries={"mode": "standard", "total_max_attempts": 4},
            connect_timeout=5,
            read_timeout=60,
            max_pool_connections=32,
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )

    @cached_property
    def client(self) -> Any:
        """One for all threads: making one takes a tenth of a second."""
        return self.connection.meta.client

    def keep(self, name: str, path: Path, *, sha256: str = "") -> tuple[int, str]:
        size, told = path.stat().st_size, digests(path)
        if sha256 and sha256 != told.whole:
            raise Damaged(f"{path} has SHA-256 {told.whole}, not {sha256}: it changed after it was sealed")
        head = self._head(name)
        if head is None:
            with self._asked(name):
                self.client.upload_file(
                    str(path),
                    self.bucket_name,
                    self._key(name),
                    ExtraArgs={"Metadata": {"sha256": told.whole}}
                    | ({"ChecksumAlgorithm": "SHA256"} if self.checksums else {}),
                    Config=TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, max_concurrency=4),
                )
            head = self._head(name) or {}
        if (head.get("ContentLength"), head.get("Metadata", {}).get("sha256")) != (size, told.whole):
            raise AlreadyOther(f"{name} is another object in the bucket already; nothing is overwritten")
        # Of several parts, S3 puts their number behind it, `…=-4`; not every store does.
        if str(head.get("ChecksumSHA256", "")).partition("-")[0] not in (told.single, told.parts):
            for _ in self.blocks(name, sha256=told.whole):
                pass
        return size, told.whole

    def held(self, name: str) -> tuple[int, str] | None:
        head = self._head(name)
        return None if head is None else (int(head["ContentLength"]), str(head["Metadata"].get("sha256", "")))

    def blocks(self, name: str, *, sha256: str = "") -> Iterator[bytes]:
        answer = self._get(name)
        noted, size = str(answer["Metadata"].get("sha256", "")), int(answer["ContentLength"])
        if sha256 and noted != sha256:
            raise Damaged(f"{name} in the bucket has another SHA-256 noted than {sha256}")
        digest, at = hashlib.sha256(), 0
        for block in self._pieces(name, answer, size):
            digest.update(block)
            at += len(block)
            if at == size and digest.hexdigest() != noted:
                raise Damaged(f"{name} in the bucket is not what its SHA-256 says")
            yield block

    def _pieces(self, name: str, answer: Any, size: int) -> Iterator[bytes]:
        """What was cut goes on where it was cut."""
        at, left = 0, READ_AGAIN
        while True:
            try:
                for block in answer["Body"].iter_chunks(BLOCK):
                    at += len(block)
                    yield block
                if at >= size:
                    return
                raise StorageUnavailable(f"{name} ended after {at} of {size} bytes")
            except (BotoCoreError, StorageUnavailable) as error:
                left -= 1
                if not left:
                    raise StorageUnavailable(f"{name} could not be read to its end: {error}") from error
            answer = self._get(name, at, size - 1)

    def opened(self, name: str) -> BinaryIO:
        head = self._head(name)
        if head is None:
            raise FileNotFoundError(f"{name} is not in the bucket")

        def read(start: int, end: int) -> bytes:
            with self._asked(name):
                return bytes(self._get(name, start, end)["Body"].read())

        return io.BufferedReader(_Ranges(read, int(head["ContentLength"])), AHEAD)

    def listed(self, prefix: str) -> Iterator[Listed]:
        cut = len(self._key(""))
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket_name, Prefix=self._key(prefix))
        with self._asked(prefix):
            for page in pages:
                for each in page.get("Contents", ()):
                    yield Listed(each["Key"][cut:], each["Size"], each["LastModified"])

    def forget(self, name: str) -> None:
        with self._asked(name):
            self.client.delete_object(Bucket=self.bucket_name, Key=self._key(name))

    def _key(self, name: str) -> str:
        return f"{self.location}/{name}" if self.location else name

    def _head(self, name: str) -> Any:
        asked = {"ChecksumMode": "ENABLED"} if self.checksums else {}
        try:
            with self._asked(name):
                return self.client.head_object(Bucket=self.bucket_name, Key=self._key(name), **asked)
        except FileNotFoundError:
            return None

    def _get(self, name: str, start: int = 0, end: int | None = None) -> Any:
        part = {} if end is None else {"Range": f"bytes={start}-{end}"}
        with self._asked(name):
            return self.client.get_object(Bucket=self.bucket_name, Key=self._key(name), **part)

    @contextmanager
    def _asked(self, name: str) -> Iterator[None]:
        """boto's errors as the contract's. Raises: FileNotFoundError; StorageUnavailable."""
        try:
            yield
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            if code in GONE:
                raise FileNotFoundError(f"{name} is not in the bucket") from error
            raise StorageUnavailable(f"the object storage refuses {name}: {code or error}") from error
        except (BotoCoreError, Boto3Error) as error:
            raise StorageUnavailable(f"the object storage cannot be reached: {error}") from error


class _Ranges(io.RawIOBase):
    """An object as a file that can be sought in."""

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        self._read, self._size, self._at = read, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(0, offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence])
        return self._at

    def readinto(self, buffer: Any) -> int:
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        data = self._read(self._at, end - 1)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class Digests:
    """SHA-256 of a file as we write it, and as S3 does: of an object sent at once, and of one sent in parts."""

    def __init__(self, whole: bytes, parts: list[bytes]) -> None:
        self.whole = whole.hex()
        self.single = base64.b64encode(whole).decode()
        self.parts = base64.b64encode(hashlib.sha256(b"".join(parts)).digest()).decode()


def digests(path: Path) -> Digests:
    """Read once. Raises: OSError."""
    whole, parts = hashlib.sha256(), list[bytes]()
    with path.open("rb") as file:
        while True:
            part, left = hashlib.sha256(), PART
            while left and (data := file.read(min(BLOCK, left))):
                whole.update(data)
                part.update(data)
                left -= len(data)
            if left == PART:
                return Digests(whole.digest(), parts)
            parts.append(part.digest())
