"""Why an archive is not opened: every way of being wrong has a code, a sentence, and how to mend it."""

from __future__ import annotations

from bundles.format.names import shown

PACK_AGAIN = "Pack the run again with agent2_pack.py."
PLAIN = "Pack regular files and folders only."
RENAME = "Rename the file and pack again."

REFUSALS: dict[str, tuple[str, str]] = {
    "empty_file": ("The file is empty.", "Upload it again."),
    "not_an_archive": (
        "This is {what}, not an archive that is read here.",
        "Upload a .zip, .tar.zst, .tar.gz or .tar.",
    ),
    "wrong_extension": ("It is named {name}, and holds {what}.", "Name it after what it is, or pack it again."),
    "no_zstd": ("Zstandard cannot be read here.", "Upload a .zip."),
    "empty": ("The archive holds no file.", PACK_AGAIN),
    "only_folders": ("The archive holds folders or system files only.", PACK_AGAIN),
    "truncated": ("The archive ends too early: {what}.", "Upload it again; the file was cut."),
    "damaged": ("The archive is damaged: {what}.", PACK_AGAIN),
    "checksum": ("{name} does not have the checksum that the archive names.", PACK_AGAIN),
    "trailing_data": ("{what} follow the end of the archive.", PACK_AGAIN),
    "leading_data": ("{what} stand before the archive.", PACK_AGAIN),
    "multi_volume": ("The archive is one part of several.", "Pack one file."),
    "too_many_entries": ("The archive has {what} entries; {limit} are read.", "Leave out caches and checkpoints."),
    "too_large": ("The archive unpacks to more than {limit}.", "Leave out weights and data."),
    "file_too_large": ("{name} unpacks to more than {limit}.", "Leave out weights and data."),
    "ratio": ("{name} unpacks to {what} times its size, as a zip bomb does.", "Cut logs of progress bars short."),
    "size_mismatch": ("{name} unpacks to more than the {what} that it names.", PACK_AGAIN),
    "directory_too_large": ("The archive's directory alone has {what}.", PACK_AGAIN),
    "header_too_large": ("A header of the archive has {what}.", PACK_AGAIN),
    "overlap": ("{name} shares its bytes with another entry, as a zip bomb does.", PACK_AGAIN),
    "outside": ("{name} lies outside of the archive's own bytes.", PACK_AGAIN),
    "header_mismatch": ("{name} is named {what} in the archive's directory.", PACK_AGAIN),
    "encrypted": ("{name} is encrypted.", "Pack without a password."),
    "method": ("{name} is compressed by method {what}.", "Use stored or deflate in a zip."),
    "link": ("{name} is a symbolic link to {what}.", PLAIN),
    "hard_link": ("{name} is a hard link to {what}.", PLAIN),
    "device": ("{name} is a device.", PLAIN),
    "fifo": ("{name} is a named pipe.", PLAIN),
    "socket": ("{name} is a socket.", PLAIN),
    "special": ("{name} is of type {what}.", PLAIN),
    "sparse": ("{name} is a sparse file.", "Pack with --sparse turned off."),
    "nested": ("{name} is an archive itself ({what}).", "Unpack it first; an archive inside an archive is not opened."),
    "duplicate": ("{name} stands in the archive twice.", RENAME),
    "duplicate_case": ("{name} and {what} differ by case only.", RENAME),
    "duplicate_unicode": ("{name} and {what} are one name in Unicode's composed form.", RENAME),
    "file_as_folder": ("{name} is a file and a folder.", RENAME),
    "zstd_window": ("The Zstandard window is larger than {limit}.", "Compress without --long."),
    "too_slow": ("Unpacking took longer than {limit}.", "Leave out caches and checkpoints."),
    "no_space": ("There is no room to unpack it now.", "Try again later."),
}


class Refused(Exception):
    """The archive is not opened. `code` names the way it is wrong, `text` says it, `fix` how to mend it."""

    def __init__(self, code: str, text: str, fix: str = "") -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.fix = fix


def refused(code: str, *, name: str = "", what: str = "", limit: str = "") -> Refused:
    """One of `REFUSALS`. Raises: KeyError: no such code."""
    text, fix = REFUSALS[code]
    return Refused(code, text.format(name=shown(name), what=shown(what), limit=limit), fix)


def amount(size: int) -> str:
    """`1.5 GB`, for sentences."""
    for unit, factor in (("GB", 1 << 30), ("MB", 1 << 20), ("kB", 1 << 10)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}".replace(".0 ", " ")
    return f"{size} bytes"
