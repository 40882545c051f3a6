"""The header of a safetensors file, read as strictly as the format is defined, without its library.

Format: 8 bytes little-endian header length N, N bytes of JSON (name → dtype, shape, data_offsets), then the data,
which the tensors' offsets cover without gap or overlap.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from grading.intake.codes import Refused, refused, shown
from grading.intake.json_files import NotJson, json_object, lfs_pointer

DTYPE_BITS: Final[Mapping[str, int]] = {
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 16),
    **dict.fromkeys(("I32", "U32", "F32"), 32),
    **dict.fromkeys(("I64", "U64", "F64", "C64"), 64),
}
_MAX_NAME, _MAX_RANK, _MAX_INT = 512, 8, 1 << 62


@dataclass(frozen=True)
class Tensor:
    """Where one tensor lies: byte offsets are counted from the start of `file`."""

    file: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    end: int

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


def header_read(path: Path, *, max_bytes: int) -> dict[str, Tensor]:
    """The tensors of one file by name, in the order of their bytes.

    Raises: Refused (E_LFS_POINTER, E_TRUNCATED, E_SAFETENSORS); OSError.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        first = file.read(64)
        if first.startswith(b"version https://git-lfs"):
            raise Refused(lfs_pointer(path.name))
        if size < 8:
            raise _truncated(path.name, 8, size)
        length = int.from_bytes(first[:8], "little")
        if length > max_bytes:
            raise _invalid(path.name, f"it declares a header of {length} bytes")
        if 8 + length > size:
            raise _truncated(path.name, 8 + length, size)
        file.seek(8)
        data = file.read(length)
    try:
        header = json_object(data, unique_keys=True)
    except NotJson as error:
        raise _invalid(path.name, f"its header is not valid JSON: {error}") from None
    tensors = header_tensors(path.name, header, data_start=8 + length)
    needs = max((tensor.end for tensor in tensors.values()), default=8 + length)
    if needs != size:
        raise _truncated(path.name, needs, size)
    return tensors


def header_tensors(name: str, header: Mapping[str, Any], *, data_start: int) -> dict[str, Tensor]:
    """Check the header's arithmetic.

    Raises: Refused (E_SAFETENSORS).
    """
    metadata = header.get("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise _invalid(name, "its __metadata__ is not a table of strings")
    tensors = {key: _tensor(name, key, entry) for key, entry in header.items() if key != "__metadata__"}
    ordered = sorted(tensors.items(), key=lambda item: (item[1].start, item[1].end))
    expected = 0
    for key, tensor in ordered:
        if tensor.start != expected:
            fault = "overlaps the one before it" if tensor.start < expected else "leaves a gap before it"
            raise _invalid(name, f"tensor {shown(key)} {fault}", tensor=key)
        expected = tensor.end
    return {
        key: Tensor(name, each.dtype, each.shape, data_start + each.start, data_start + each.end)
        for key, each in ordered
    }


def _tensor(name: str, key: str, entry: object) -> Tensor:
    if not key or len(key) > _MAX_NAME or not (key.isascii() and key.isprintable()):
        raise _invalid(name, f"the tensor name {shown(key)} is unusable", tensor=key)
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise _invalid(name, f"tensor {key} does not have exactly dtype, shape and data_offsets", tensor=key)
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        raise _invalid(name, f"tensor {key} has the unknown dtype {shown(dtype)}", tensor=key)
    if not _sizes(shape) or len(shape) > _MAX_RANK:
        raise _invalid(name, f"tensor {key} has an impossible shape", tensor=key, found=shape)
    if not _sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise _invalid(name, f"tensor {key} has impossible data_offsets", tensor=key, found=offsets)
    bits = math.prod(shape) * DTYPE_BITS[dtype]
    if bits != 8 * (offsets[1] - offsets[0]):
        expected, found = math.ceil(bits / 8) if bits < _MAX_INT else "too many", offsets[1] - offsets[0]
        raise _invalid(
            name,
            f"tensor {key} needs {expected} bytes for its shape and has {found}",
            tensor=key,
            expected=expected,
            found=found,
        )
    return Tensor(name, dtype, tuple(shape), offsets[0], offsets[1])


def _sizes(value: object) -> bool:
    """Whether it is a list of plain integers that a file's size could hold."""
    return isinstance(value, list) and all(type(each) is int and 0 <= each < _MAX_INT for each in value)


def _truncated(name: str, needs: int, has: int) -> Refused:
    excess = "" if has < needs else ": bytes follow that belong to no tensor"
    return refused(
        "E_TRUNCATED", f"{name} needs {needs} bytes, has {has}{excess}", file=name, expected=needs, found=has
    )


def _invalid(name: str, why: str, **detail: Any) -> Refused:
    return refused("E_SAFETENSORS", f"{name} is not a valid safetensors file: {why}", file=name, **detail)
