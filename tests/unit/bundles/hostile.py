"""Hostile and broken archives, each with the name it comes under and the code that it must be refused with."""

import gzip
import io
import struct
import tarfile
import zipfile
from collections.abc import Callable

from backports import zstd

from bundles.unpacking.limits import Limits
from tests.unit.bundles.archives import Entry, Zip, deflated, header, member, named, plain_zip, tarred, zipped, zst

SMALL = Limits(
    entries=50, total=1 << 20, file=600 << 10, ratio=50, ratio_from=64 << 10, directory=64 << 10, header=4096
)
"""Under which bombs are small."""
GOOD = {"run_meta.json": b"{}", "scores.json": b"[]"}
Case = tuple[str, str, Callable[[], bytes]]
"""Code, file name, builder."""


def _zip(code: str, *names: str) -> Case:
    return code, "run.zip", lambda: named("run_meta.json", *names)


def _one(code: str, entry: Entry, **more: object) -> Case:
    return code, "run.zip", lambda: Zip([Entry(b"run_meta.json"), entry], **more).build()  # type: ignore[arg-type]


def _tar(code: str, *members: tuple[tarfile.TarInfo, bytes], name: str = "run.tar") -> Case:
    return code, name, lambda: tarred(member("run_meta.json"), *members)


def overlapping() -> bytes:
    """Two directory entries over one file, as in D. Fifield's bombs."""
    return zipped(Entry(b"a.log", b"y" * 2000), Entry(b"b.log", b"y" * 2000, offset=0))


def quoted() -> bytes:
    """The second entry's bytes lie inside of the first's."""
    inner = zipped(Entry(b"b.log", b"z" * 40))[: 30 + 5 + 40]
    return zipped(Entry(b"a.log", inner), Entry(b"b.log", b"z" * 40, offset=35))


def nested(depth: int) -> bytes:
    data = plain_zip(GOOD)
    for level in range(depth):
        data = plain_zip({f"{level}.zip": data})
    return data


def zip64_count() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(60):
            archive.writestr(f"{number}.txt", b"")
    return out.getvalue()


def wide_window() -> bytes:
    packer = zstd.ZstdCompressor(
        options={zstd.CompressionParameter.window_log: 30, zstd.CompressionParameter.enable_long_distance_matching: 1}
    )
    return (
        packer.compress(tarred(member("run_meta.json", data=b"q" * 300_000)), mode=packer.FLUSH_BLOCK) + packer.flush()
    )


def pax_global() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"path": "../evil"}) as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return out.getvalue()


def sparse_pax() -> bytes:
    info = tarfile.TarInfo("a")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.realsize": "99999999999"}
    return tarred((info, b"x"))


def flipped() -> bytes:
    """A Zstandard stream with one byte changed."""
    data = bytearray(
        zst(tarred(member("a", data=bytes(range(256)) * 40)), options={zstd.CompressionParameter.checksum_flag: 1})
    )
    data[-2] ^= 0xFF
    return bytes(data)


def wrong_crc() -> bytes:
    return zipped(Entry(b"scores.json", b"[1]", crc=7))


NAMES: list[Case] = [
    _zip("name_traversal", "../evil"),
    _zip("name_traversal", "a/../../evil"),
    _zip("name_traversal_backslash", "a/..\\..\\evil"),
    _zip("name_traversal_backslash", "..\\evil", "a/b"),
    _zip("name_traversal_percent", "%2e%2e/evil"),
    _zip("name_traversal_percent", "a/%2E%2E%2Fevil"),
    _zip("name_traversal_percent", "%252e%252e%252fevil"),
    _zip("name_traversal_percent", "%c0%ae%c0%ae%c0%afevil"),
    _zip("name_traversal_unicode", "．．/evil"),
    _zip("name_traversal_unicode", "a/\u2024\u2024/evil"),
    _zip("name_traversal_unicode", "..\u2215evil"),
    _zip("name_traversal_escaped", "u002e./evil"),
    _zip("name_absolute", "/etc/passwd"),
    _zip("name_share", "//server/share/evil"),
    _zip("name_drive", "C:/evil"),
    _zip("name_home", "~/.ssh/authorized_keys"),
    _zip("name_mixed_separators", "code/a\\b.py"),
    _zip("name_bidi", "code/\u202egpj.exe"),
    _zip("name_bidi", "code/a\u2066b\u2069.py"),
    _zip("name_invisible", "code/tra\u200bin.py"),
    _zip("name_control", "code/\x1b[31m.py"),
    _zip("name_control", "code/a\nb.py"),
    _one("name_nul", Entry(b"code/a\x00.txt")),
    _zip("name_dots", "./a/./b", "c/d"),
    _zip("name_reserved", "code/CON.txt"),
    _zip("name_ending", "code/train.py."),
    _zip("name_too_long", "a" * 300),
    _zip("name_too_long", "/".join(["b" * 100] * 12)),
    _zip("name_too_deep", "/".join("d" * 40)),
    _one("damaged", Entry(b"\xff\xfe.txt")),
    _zip("duplicate", "a.py", "a.py"),
    _zip("duplicate_case", "code/Train.py", "code/train.py"),
    _zip("duplicate_case", "Code/a.py", "code/b.py"),
    _zip("duplicate_unicode", "caf\u00e9.py", "cafe\u0301.py"),
    _zip("file_as_folder", "a", "a/b"),
    _zip("file_as_folder", "a/b", "a"),
    _tar("name_traversal", member("../evil")),
    _tar("name_absolute", member("/etc/cron.d/evil")),
    _tar("name_not_utf8", member("caf\udce9.txt"), name="run.tar"),
    _tar("name_too_deep", member("a/" * 60 + "evil")),
]
SPECIAL: list[Case] = [
    _one("link", Entry(b"models", b"/etc", mode=0o120777)),
    _one("device", Entry(b"null", b"", mode=0o020666)),
    _one("fifo", Entry(b"pipe", b"", mode=0o010644)),
    _one("socket", Entry(b"sock", b"", mode=0o140644)),
    _tar("link", member("data", tarfile.SYMTYPE, "/etc")),
    _tar("hard_link", member("data", tarfile.LNKTYPE, "/etc/shadow")),
    _tar("device", member("null", tarfile.CHRTYPE)),
    _tar("device", member("disk", tarfile.BLKTYPE)),
    _tar("fifo", member("pipe", tarfile.FIFOTYPE)),
    ("sparse", "run.tar", lambda: header(b"a", 0, b"S") + b"\0" * 1024),
    ("sparse", "run.tar", sparse_pax),
    ("special", "run.tar", lambda: header(b"a", 0, b"V") + b"\0" * 1024),
    ("special", "run.tar", pax_global),
    ("nested", "run.zip", lambda: nested(1)),
    ("nested", "run.zip", lambda: plain_zip({"a/run": plain_zip(GOOD)})),
    ("nested", "run.zip", lambda: plain_zip({"x.tar.gz": gzip.compress(tarred(member("a")))})),
    ("nested", "run.tar", lambda: tarred(member("x.7z", data=b"7z\xbc\xaf\x27\x1c" + b"0" * 40))),
]
BOMBS: list[Case] = [
    ("ratio", "run.zip", lambda: zipped(Entry(b"agent.log", b"\0" * 300_000, method=8))),
    ("ratio", "run.tar.gz", lambda: gzip.compress(tarred(member("a.log", data=b"\0" * 500_000)))),
    ("ratio", "run.tar.zst", lambda: zst(tarred(member("a.log", data=b"\0" * 500_000)))),
    ("too_many_entries", "run.zip", zip64_count),
    ("too_many_entries", "run.tar", lambda: tarred(*(member(f"{n}.txt") for n in range(60)))),
    ("file_too_large", "run.zip", lambda: zipped(Entry(b"a", b"x", size=700 << 10))),
    ("file_too_large", "run.tar", lambda: header(b"a", 8 << 30) + b"\0" * 2048),
    ("too_large", "run.zip", lambda: zipped(*(Entry(b"%d" % n, bytes(range(256)) * 1500) for n in range(3)))),
    ("too_large", "run.tar", lambda: tarred(*(member(str(n), data=bytes(range(256)) * 1500) for n in range(3)))),
    ("size_mismatch", "run.zip", lambda: zipped(Entry(b"a.log", b"abc" * 3000, method=8, size=100))),
    ("overlap", "run.zip", overlapping),
    ("overlap", "run.zip", quoted),
    (
        "directory_too_large",
        "run.zip",
        lambda: zipped(*(Entry(b"a" * 200 + b"/%d" % n * 1, b"") for n in range(2)), directory_size=1 << 20),
    ),
    ("header_too_large", "run.tar", lambda: header(b"././@LongLink", 1 << 30, b"L") + b"\0" * 2048),
    ("header_too_large", "run.tar", lambda: header(b"PaxHeader", 1 << 33, b"x") + b"\0" * 2048),
    ("zstd_window", "run.tar.zst", wide_window),
]
BROKEN: list[Case] = [
    ("empty_file", "run.zip", lambda: b""),
    ("empty", "run.zip", lambda: plain_zip({})),
    ("empty", "run.tar", lambda: b"\0" * 10_240),
    ("only_folders", "run.zip", lambda: zipped(Entry(b"a/", b""), Entry(b"__MACOSX/._a", b"x"))),
    ("truncated", "run.zip", lambda: plain_zip(GOOD)[:-30]),
    ("truncated", "run.zip", lambda: plain_zip(GOOD)[:40]),
    ("truncated", "run.tar", lambda: tarred(member("run_meta.json", data=b"x" * 2000))[:1800]),
    ("truncated", "run.tar", lambda: tarred(member("a"))[:1024]),
    ("truncated", "run.tar.gz", lambda: gzip.compress(tarred(member("a", data=bytes(range(256)) * 40)))[:-40]),
    ("truncated", "run.tar.zst", lambda: zst(tarred(member("a", data=bytes(range(256)) * 40)))[:-20]),
    ("truncated", "run.zip", lambda: Zip([Entry(b"a")], comment=b"abcdef").build()[:-3]),
    ("trailing_data", "run.zip", lambda: zipped(Entry(b"a"), after=b"\x00" * 9)),
    ("trailing_data", "run.tar", lambda: tarred(member("a")) + b"junk" * 200),
    ("trailing_data", "run.tar.gz", lambda: gzip.compress(tarred(member("a"))) + b"junk"),
    ("leading_data", "run.zip", lambda: b"#!/bin/sh\n" + plain_zip(GOOD)),
    ("leading_data", "run.zip", lambda: zipped(Entry(b"a"), before=zipped(Entry(b"hidden")))),
    ("multi_volume", "run.zip", lambda: zipped(Entry(b"a"), disk=1)),
    ("damaged", "run.zip", lambda: zipped(Entry(b"a", b"abc", method=8, stored=b"\xff\xff\xff\xff"))),
    ("damaged", "run.zip", lambda: zipped(Entry(b"a", b"abc", method=8, stored=deflated(b"abc") + b"hidden"))),
    ("damaged", "run.tar", lambda: header(b"a", 10)[:148] + b"0000000\0" + header(b"a", 10)[156:] + b"\0" * 2048),
    ("damaged", "run.tar.zst", flipped),
    ("checksum", "run.zip", wrong_crc),
    ("encrypted", "run.zip", lambda: zipped(Entry(b"a", flags=0x801))),
    ("encrypted", "run.zip", lambda: zipped(Entry(b"a", local_flags=0x801))),
    ("encrypted", "run.zip", lambda: zipped(Entry(b"a", flags=0x841))),
    ("method", "run.zip", lambda: zipped(Entry(b"a", method=93))),
    ("method", "run.zip", lambda: zipped(Entry(b"a", method=14))),
    ("header_mismatch", "run.zip", lambda: zipped(Entry(b"scores.json", local_name=b"evil0.jsonl"))),
    ("outside", "run.zip", lambda: zipped(Entry(b"a"), Entry(b"b", packed=5000, size=5000))),
    ("outside", "run.zip", lambda: zipped(Entry(b"a", offset=90_000))),
    ("wrong_extension", "run.zip", lambda: tarred(member("a"))),
    ("wrong_extension", "run.tar.zst", lambda: plain_zip(GOOD)),
    ("wrong_extension", "run.txt", lambda: plain_zip(GOOD)),
    ("not_an_archive", "run.zip", lambda: b"%PDF-1.7 and so on"),
    ("not_an_archive", "run.zip", lambda: b"<!doctype html><title>Sign in</title>"),
    ("not_an_archive", "run.zip", lambda: b'{"scores": []}'),
    ("not_an_archive", "run.zip", lambda: b"Rar!\x1a\x07\x00" + b"0" * 60),
    ("not_an_archive", "run.7z", lambda: b"7z\xbc\xaf\x27\x1c" + b"0" * 60),
    ("not_an_archive", "run.zip", lambda: struct.pack("<16s", b"\x00\x01\x02")),
]
CORPUS: list[Case] = [*NAMES, *SPECIAL, *BOMBS, *BROKEN]
