"""What `ArtifactStorage` promises, kept by S3Artifacts against a real server."""

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from benchmark.artifacts.contract import AlreadyOther, Damaged, StorageUnavailable
from benchmark.artifacts.s3 import PART, S3Artifacts, digests
from tests.support.object_storage import BUCKET, ObjectServer

pytestmark = pytest.mark.services


def written(path: Path, content: bytes) -> tuple[Path, str]:
    path.write_bytes(content)
    return path, hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("size", [0, 5, PART, 2 * PART + 7])
@pytest.mark.parametrize("checksums", [True, False])
def test_a_file_comes_back_as_it_was(server: ObjectServer, tmp_path: Path, size: int, checksums: bool) -> None:
    bucket = S3Artifacts(**server.options, checksums=checksums)
    path, digest = written(tmp_path / "file", os.urandom(1000) * (size // 1000) + b"x" * (size % 1000))
    assert bucket.keep("a/file", path, sha256=digest) == (size, digest)
    assert bucket.held("a/file") == (size, digest)
    assert b"".join(bucket.blocks("a/file", sha256=digest)) == path.read_bytes()
    assert server.names() == ["bench/one/a/file"]


def test_the_store_itself_checks_what_arrives(bucket: S3Artifacts, tmp_path: Path) -> None:
    """Its checksum is the one that we reckon, sent at once or in parts; else every upload would be read back."""
    for name, size, which in (("small", 100, "single"), ("large", PART + 1, "parts")):
        path, _ = written(tmp_path / name, os.urandom(size))
        bucket.keep(name, path)
        assert bucket._head(name)["ChecksumSHA256"].partition("-")[0] == getattr(digests(path), which)


def test_nothing_is_overwritten(bucket: S3Artifacts, tmp_path: Path) -> None:
    path, digest = written(tmp_path / "file", b"first")
    bucket.keep("file", path)
    assert bucket.keep("file", path) == (5, digest)
    written(path, b"other")
    with pytest.raises(AlreadyOther, match="nothing is overwritten"):
        bucket.keep("file", path)
    assert b"".join(bucket.blocks("file")) == b"first"


def test_a_file_that_changed_after_it_was_sealed_is_not_taken(
    bucket: S3Artifacts, server: ObjectServer, tmp_path: Path
) -> None:
    path, digest = written(tmp_path / "file", b"sealed")
    written(path, b"changed")
    with pytest.raises(Damaged, match="changed after it was sealed"):
        bucket.keep("file", path, sha256=digest)
    assert server.names() == []


def test_a_damaged_object_is_noticed_before_its_end(bucket: S3Artifacts, server: ObjectServer, tmp_path: Path) -> None:
    content = os.urandom(3 << 20)
    path, digest = written(tmp_path / "file", content)
    bucket.keep("file", path)
    noted = {"sha256": digest}
    server.client.put_object(Bucket=BUCKET, Key="bench/one/file", Body=content[:-1] + b"!", Metadata=noted)
    got: list[bytes] = []
    with pytest.raises(Damaged, match="is not what its SHA-256 says"):
        got.extend(bucket.blocks("file"))
    assert len(b"".join(got)) < len(content)
    with pytest.raises(Damaged, match="is not what its SHA-256 says"):
        bucket.keep("file", path)


def test_an_object_that_is_not_the_one_meant_is_refused(bucket: S3Artifacts, tmp_path: Path) -> None:
    path, _ = written(tmp_path / "file", b"content")
    bucket.keep("file", path)
    with pytest.raises(Damaged, match="another SHA-256 noted"):
        next(bucket.blocks("file", sha256="0" * 64))


def test_what_is_not_there(bucket: S3Artifacts) -> None:
    assert bucket.held("nothing") is None
    for read in (lambda: list(bucket.blocks("nothing")), lambda: bucket.opened("nothing")):
        with pytest.raises(FileNotFoundError, match="nothing is not in the bucket"):
            read()
    bucket.forget("nothing")


def test_parts_of_an_archive_are_read_without_the_rest(
    bucket: S3Artifacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("weights", os.urandom(4 << 20))
        archive.writestr("manifest.json", "{}")
    bucket.keep("run.zip", path)
    read: list[tuple[int, int]] = []
    get = bucket._get

    def noted(name: str, start: int = 0, end: int | None = None) -> object:
        read.append((start, end or 0))
        return get(name, start, end)

    monkeypatch.setattr(bucket, "_get", noted)
    with bucket.opened("run.zip") as file, zipfile.ZipFile(file) as archive:
        assert archive.read("manifest.json") == b"{}"
    assert sum(end - start for start, end in read) < 2 << 20


def test_objects_are_listed_and_forgotten(bucket: S3Artifacts, server: ObjectServer, tmp_path: Path) -> None:
    path, _ = written(tmp_path / "file", b"12345")
    for name in ("a/1", "a/2", "b/1"):
        bucket.keep(name, path)
    server.client.put_object(Bucket=BUCKET, Key="another/platform", Body=b"x")
    assert [(each.name, each.size) for each in bucket.listed("a/")] == [("a/1", 5), ("a/2", 5)]
    assert [each.name for each in bucket.listed("")] == ["a/1", "a/2", "b/1"]
    bucket.forget("a/1")
    assert [each.name for each in bucket.listed("a/")] == ["a/2"]


def test_an_outage_is_no_missing_file(bucket: S3Artifacts, server: ObjectServer, tmp_path: Path) -> None:
    path, digest = written(tmp_path / "file", b"content")
    bucket.keep("file", path)
    server.gate.shut()
    for asked in (
        lambda: bucket.keep("other", path),
        lambda: bucket.held("file"),
        lambda: list(bucket.blocks("file")),
        lambda: list(bucket.listed("")),
        lambda: bucket.forget("file"),
    ):
        with pytest.raises(StorageUnavailable, match="cannot be reached"):
            asked()
    server.gate.open()
    assert bucket.held("file") == (7, digest)


def test_a_read_that_is_cut_goes_on_where_it_was_cut(bucket: S3Artifacts, server: ObjectServer, tmp_path: Path) -> None:
    path, digest = written(tmp_path / "file", os.urandom(24 << 20))
    bucket.keep("file", path)
    blocks, got = bucket.blocks("file", sha256=digest), b""
    for block in blocks:
        got += block
        if len(got) == 1 << 20:
            server.gate.shut()
            server.gate.open()
    assert hashlib.sha256(got).hexdigest() == digest


def test_a_missing_bucket_is_said(server: ObjectServer, tmp_path: Path) -> None:
    elsewhere = S3Artifacts(**server.options | {"bucket_name": "nowhere"})
    path, _ = written(tmp_path / "file", b"x")
    with pytest.raises(StorageUnavailable, match="NoSuchBucket"):
        elsewhere.keep("file", path)
    with pytest.raises(StorageUnavailable, match="NoSuchBucket"):
        list(elsewhere.blocks("file"))
