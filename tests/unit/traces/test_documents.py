"""Taking documents apart agrees with parsing them whole, however they are cut."""

import contextlib
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from traces.reading.documents import Broken, DocumentSplitter, Leaf

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


def opens(path: tuple[str | int, ...]) -> bool:
    return len(path) < 2


def rebuilt(leaves: list[Leaf], top: Any) -> Any:
    """The value whose outer two levels were taken apart."""

    def inner(value: Any, path: tuple[str | int, ...]) -> Any:
        if isinstance(value, dict) and opens(path):
            return {key: inner(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list) and opens(path):
            return [inner(item, (*path, index)) for index, item in enumerate(value)]
        return json.loads(next(leaf.data for leaf in leaves if leaf.path == path and not leaf.closed))

    return inner(top, ())


@settings(max_examples=150, deadline=None)
@given(
    st.lists(values, max_size=4) | st.dictionaries(st.text(max_size=6), values, max_size=4),
    st.integers(1, 30),
    st.sampled_from([None, 1]),
)
def test_leaves_are_the_values(value: Any, size: int, indent: int | None) -> None:
    data = json.dumps(value, indent=indent, ensure_ascii=False).encode("utf-8", "surrogatepass")
    splitter = DocumentSplitter(opens, 0, 1, 1 << 20)
    leaves = [leaf for at in range(0, len(data), size) for leaf in splitter.feed(data[at : at + size])]
    assert splitter.done
    assert rebuilt(leaves, value) == value
    for leaf in leaves:
        if not leaf.closed:
            assert data[leaf.offset : leaf.offset + len(leaf.data)] == leaf.data
            assert leaf.line == 1 + data[: leaf.offset].count(b"\n")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.integers(1, 10))
def test_any_bytes_either_break_or_wait(data: bytes, size: int) -> None:
    splitter = DocumentSplitter(opens, 0, 1, 1 << 20)
    seen = 0
    with contextlib.suppress(Broken):
        for at in range(0, len(data), size):
            seen += sum(len(leaf.data) for leaf in splitter.feed(data[at : at + size]))
            if splitter.done:
                break
    assert seen <= len(data)


def test_a_value_over_the_limit_comes_in_pieces() -> None:
    data = b'{"a": ["' + b"x" * 5000 + b'\\"", 1], "b": 2}'
    splitter = DocumentSplitter(lambda path: not path, 0, 1, 1000)
    leaves = [leaf for at in range(0, len(data), 300) for leaf in splitter.feed(data[at : at + 300])]
    parts = [leaf for leaf in leaves if leaf.part]
    assert b"".join(part.data for part in parts) == data[6 : data.index(b', "b"')]
    assert all(part.path == ("a",) for part in parts)
    assert max(len(part.data) for part in parts) <= 1300
    assert [leaf.data for leaf in leaves if leaf.path == ("b",)] == [b"2"]
