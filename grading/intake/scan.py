"""Streams the weights once: hashes, counts values that are not finite, and measures the distance to the base.

Memory stays at a few chunks per thread, however large a tensor is.
"""

import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from grading.intake.headers import DTYPE_BITS, Tensor

_CHUNK_BYTES = 1 << 20
_SMALL_BYTES = 1 << 20
_THREADS = 2
# The exponent's bits: all set means infinite or not a number.
_EXPONENT: Final[Mapping[str, int]] = {"BF16": 0x7F80, "F16": 0x7C00, "F32": 0x7F800000, "F64": 0x7FF0 << 48}
_UNSIGNED: Final[Mapping[int, str]] = {16: "<u2", 32: "<u4", 64: "<u8"}
FLOAT_DTYPES: Final = frozenset(_EXPONENT)

Bits = NDArray[np.unsignedinteger[Any]]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class TensorScan:
    """One tensor's bytes, and how it differs from the base's tensor of that name, where there is one to compare."""

    sha256: str
    nonfinite: int = 0
    square_norm: float = 0.0
    """Sum of squares of its finite values."""
    changed: bool = True
    square_distance: float = 0.0


@dataclass(frozen=True)
class Pair:
    """A tensor and the base's, both floating-point; `elements` of each are compared."""

    tensor: Tensor
    base: Tensor | None = None
    elements: int = 0


def weights_scan(folder: Path, pairs: Mapping[str, Pair], base_folder: Path | None = None) -> dict[str, TensorScan]:
    """Scan every tensor, of a large checkpoint a few at a time.

    Raises: OSError.
    """
    largest_first = sorted(pairs, key=lambda name: pairs[name].tensor.start - pairs[name].tensor.end)
    if sum(pair.tensor.end - pair.tensor.start for pair in pairs.values()) < _SMALL_BYTES:
        return {name: _scan(folder, pairs[name], base_folder) for name in largest_first}
    with ThreadPoolExecutor(_THREADS) as pool:
        scans = pool.map(lambda name: _scan(folder, pairs[name], base_folder), largest_first)
        return dict(zip(largest_first, scans, strict=True))


def weights_digest(tensors: Mapping[str, Tensor], scans: Mapping[str, TensorScan]) -> str:
    """SHA-256 over the sorted names, dtypes, shapes and bytes."""
    digest = hashlib.sha256(b"weights/1\n")
    for name in sorted(tensors):
        tensor = tensors[name]
        shape = ",".join(map(str, tensor.shape))
        digest.update(f"{name}\0{tensor.dtype}\0{shape}\0{scans[name].sha256}\n".encode())
    return digest.hexdigest()


def pair_for(tensor: Tensor, base: Tensor | None) -> Pair:
    """What of the two can be compared: all of it, or the common rows when one has more of them."""
    if base is None or not {tensor.dtype, base.dtype} <= FLOAT_DTYPES or tensor.shape[1:] != base.shape[1:]:
        return Pair(tensor)
    return Pair(tensor, base, min(tensor.elements, base.elements))


def _scan(folder: Path, pair: Pair, base_folder: Path | None) -> TensorScan:
    tensor, base = pair.tensor, pair.base
    digest = hashlib.sha256()
    nonfinite, norm, distance, changed = 0, 0.0, 0.0, base is None or tensor.shape != base.shape
    step = _CHUNK_BYTES * 8 // max(DTYPE_BITS[tensor.dtype], 8)
    base_chunks = _chunks(base_folder / base.file, base, step) if base is not None and base_folder else iter(())
    compared = 0
    for chunk in _chunks(folder / tensor.file, tensor, step):
        digest.update(chunk)
        if tensor.dtype not in FLOAT_DTYPES:
            continue
        bits = _bits(chunk, tensor.dtype)
        bad = _nonfinite(bits, tensor.dtype)
        nonfinite += bad
        theirs = next(base_chunks, None) if compared < pair.elements else None
        if theirs is None or base is None:
            if base_folder is None and not bad:
                norm += _square(_floats(bits, tensor.dtype))
            continue
        same, squares = _compare(bits, tensor.dtype, _bits(theirs, base.dtype), base.dtype, finite=not bad)
        compared += len(bits)
        changed |= not same
        distance += squares
    return TensorScan(digest.hexdigest(), nonfinite, norm, changed, distance)


def _compare(ours: Bits, dtype: str, theirs: Bits, base_dtype: str, *, finite: bool) -> tuple[bool, float]:
    """Whether the common values are the same, and the sum of their squared differences."""
    count = min(len(ours), len(theirs))
    ours, theirs = ours[:count], theirs[:count]
    if dtype == base_dtype and np.array_equal(ours, theirs):
        return True, 0.0
    if not finite:
        return False, 0.0
    difference = _floats(ours, dtype) - _floats(theirs, base_dtype)
    return not difference.any(), _square(difference)


def _chunks(path: Path, tensor: Tensor, elements: int) -> Iterator[memoryview]:
    """The tensor's bytes, `elements` of it at a time."""
    size = max(1, elements * DTYPE_BITS[tensor.dtype] // 8)
    buffer = memoryview(bytearray(min(size, tensor.end - tensor.start)))
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        at = tensor.start
        while at < tensor.end:
            want = min(size, tensor.end - at)
            got = 0
            while got < want:
                read = os.preadv(fd, [buffer[got:want]], at + got)
                if read == 0:
                    raise OSError(f"{path.name} became shorter while it was read")
                got += read
            yield buffer[:want]
            at += want
    finally:
        os.close(fd)


def _bits(chunk: memoryview, dtype: str) -> Bits:
    return np.frombuffer(chunk, dtype=_UNSIGNED[DTYPE_BITS[dtype]])


def _floats(bits: Bits, dtype: str) -> Floats:
    """The values as float32; bfloat16 is float32's upper half."""
    if dtype == "BF16":
        wide = bits.astype("<u4")
        wide <<= np.uint32(16)
        return wide.view("<f4")
    if dtype == "F32":
        return bits.view("<f4")
    with np.errstate(over="ignore"):
        return bits.view("<f2" if dtype == "F16" else "<f8").astype("<f4")


def _nonfinite(bits: Bits, dtype: str) -> int:
    mask = bits.dtype.type(_EXPONENT[dtype])
    exponents = bits & mask
    return int(np.count_nonzero(exponents == mask)) if exponents.size and exponents.max() == mask else 0


def _square(values: Floats) -> float:
    """Sum of squares; of values whose squares overflow float32, in double precision."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.dot(values, values))
    if math.isfinite(total):
        return total
    return float(np.square(values, dtype=np.float64).sum())
