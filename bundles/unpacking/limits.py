"""How much an archive may be."""

from __future__ import annotations

from dataclasses import dataclass

PIECE = 1 << 18
"""Bytes that are unpacked at once."""


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes."""

    entries: int = 20_000
    total: int = 4 << 30
    """Of all files unpacked."""
    file: int = 2 << 30
    ratio: int = 200
    """Unpacked to packed, of a file or stream above `ratio_from`; Deflate reaches 1,032."""
    ratio_from: int = 4 << 20
    directory: int = 16 << 20
    """A zip's central directory."""
    header: int = 64 << 10
    """One extended header of a tar."""
    window_log: int = 27
    """Zstandard's: 128 MB of memory."""
    seconds: float = 300.0
