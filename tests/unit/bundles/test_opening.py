"""Archives that are odd and harmless open."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from bundles.unpacking.limits import Limits
from bundles.unpacking.refusal import Refused
from bundles.unpacking.unpack import Unpacked, archive_unpack
from tests.unit.bundles.archives import Entry, member, plain_zip, tarred, zipped, zst

FILES = {"run/scores.json": b"[]", "run/code/train.py": b"print()\n", "run/empty.txt": b""}


def opened(
    tmp_path: Path, data: bytes, filename: str, limits: Limits | None = None
) -> tuple[Unpacked, dict[str, bytes]]:
    archive = tmp_path / "upload"
    archive.write_bytes(data)
    result = archive_unpack(archive, tmp_path / "into", filename=filename, limits=limits)
    into = tmp_path / "into"
    return result, {str(path.relative_to(into)): path.read_bytes() for path in into.rglob("*") if path.is_file()}


def as_tar() -> bytes:
    return tarred(*(member(name, data=data) for name, data in FILES.items()))


@pytest.mark.parametrize(
    ("filename", "data"),
    [
        ("run.zip", plain_zip(FILES)),
        ("RUN.ZIP", plain_zip(FILES)),
        ("run.tar", as_tar()),
        ("run.tar.gz", gzip.compress(as_tar())),
        ("run.tgz", gzip.compress(as_tar()[:5000]) + gzip.compress(as_tar()[5000:])),
        ("run.tar.zst", zst(as_tar())),
        ("run.tar.zst", zst(as_tar()[:700]) + zst(as_tar()[700:])),
    ],
    ids=["zip", "upper case", "tar", "gzip", "two members", "zstd", "two frames"],
)
def test_each_kind_opens(tmp_path: Path, filename: str, data: bytes) -> None:
    result, files = opened(tmp_path, data, filename)
    assert files == FILES
    assert (result.files, result.bytes) == (3, 10)


def test_junk_is_left_out_and_said(tmp_path: Path) -> None:
    data = plain_zip({**FILES, "__MACOSX/run/._scores.json": b"x", "run/.DS_Store": b"y", "run/Thumbs.db": b"z"})
    result, files = opened(tmp_path, data, "run.zip")
    assert files == FILES
    assert len(result.left_out) == 3


def test_windows_separators_and_old_names(tmp_path: Path) -> None:
    result, files = opened(
        tmp_path, zipped(Entry(b"run\\scores.json", b"[]", flags=0), Entry(b"run\\caf\x82.txt", flags=0)), "run.zip"
    )
    assert sorted(files) == ["run/café.txt", "run/scores.json"]
    assert len(result.notes) == 2


def test_utf8_names_without_the_flag(tmp_path: Path) -> None:
    result, files = opened(tmp_path, zipped(Entry("run/é.txt".encode(), flags=0)), "run.zip")
    assert list(files) == ["run/é.txt"]
    assert result.notes == []


def test_a_data_descriptor_and_empty_folders(tmp_path: Path) -> None:
    class Pipe(io.RawIOBase):
        """Cannot seek, so that zipfile writes lengths behind the data."""

        def __init__(self) -> None:
            self.kept = bytearray()

        def writable(self) -> bool:
            return True

        def write(self, data: object) -> int:
            piece = bytes(data)  # type: ignore[call-overload]
            self.kept += piece
            return len(piece)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("run/empty")
        for name, data in FILES.items():
            archive.writestr(name, data)
    assert opened(tmp_path, bytes(pipe.kept), "run.zip")[1] == FILES


def test_a_tar_of_the_current_folder(tmp_path: Path) -> None:
    folder = member("./", tarfile.DIRTYPE)
    data = tarred(folder, *(member(f"./{name}", data=data) for name, data in FILES.items()), form=tarfile.GNU_FORMAT)
    assert opened(tmp_path, data, "run.tar")[1] == FILES


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_long_names_of_a_tar(tmp_path: Path, form: int) -> None:
    name = "run/" + "/".join(["folder" * 6] * 4) + "/é.txt"
    assert opened(tmp_path, tarred(member(name), form=form), "run.tar")[1] == {name: b"x"}


def test_zip64(tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, archive.open("a.txt", "w", force_zip64=True) as file:
        file.write(b"abc")
    assert opened(tmp_path, out.getvalue(), "run.zip")[1] == {"a.txt": b"abc"}


def test_data_that_is_a_zip_too_is_no_nested_archive(tmp_path: Path) -> None:
    inner = plain_zip({"samples/1.json": b"{}"})
    files = {"log.eval": inner, "weights.npz": inner, "agent.log.gz": gzip.compress(b"text")}
    assert opened(tmp_path, plain_zip(files), "run.zip")[1] == files


def test_slow_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refusal:
        opened(tmp_path, plain_zip(FILES), "run.zip", Limits(seconds=-1))
    assert refusal.value.code == "too_slow"


def test_into_must_be_empty(tmp_path: Path) -> None:
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "mine").write_text("keep")
    with pytest.raises(FileExistsError):
        opened(tmp_path, plain_zip(FILES), "run.zip")
    assert (tmp_path / "into" / "mine").read_text() == "keep"


def test_cut_anywhere_nothing_stays(tmp_path: Path) -> None:
    whole = plain_zip({"a.txt": b"hello" * 10, "b.txt": b"x"})
    archive, into = tmp_path / "upload", tmp_path / "into"
    for end in range(len(whole)):
        archive.write_bytes(whole[:end])
        with pytest.raises(Refused):
            archive_unpack(archive, into, filename="run.zip")
        assert not into.exists() or not any(into.iterdir())
