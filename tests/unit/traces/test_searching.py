"""Search answers what a plain scan answers."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from traces.contract import EventKind
from traces.storage import searching
from traces.storage.files import GrowingFile
from traces.storage.searching import Extent, SearchWriter, folded, found_in, searchable

KINDS = (EventKind.ASSISTANT, EventKind.TOOL_RESULT)


def written(folder: Path, texts: list[str], *, finished: bool) -> Extent:
    for old in folder.glob("search.*"):
        old.unlink()
    writer = SearchWriter(folder, texts=0, events=0, filters=0)
    for number, text in enumerate(texts):
        writer.add(KINDS[number % 2], folded(text))
    if finished:
        writer.finish()
    writer.close()
    return Extent(writer.texts.position, len(texts), writer.filters.position)


words = st.text(st.sampled_from("abßÉ🚀 \x00"), max_size=40)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    st.lists(words, min_size=1, max_size=30),
    st.text("abßÉS🚀 ", min_size=1, max_size=5),
    st.integers(0, 5),
    st.booleans(),
)
def test_it_finds_what_a_scan_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: list[str], needle: str, after: int, finished: bool
) -> None:
    monkeypatch.setattr(searching, "BLOCK", 64)
    extent = written(tmp_path, texts, finished=finished)
    expected = [n for n, text in enumerate(texts, 1) if n > after and folded(needle) in folded(text)]
    for kinds in (frozenset(), frozenset({KINDS[0]})):
        found = found_in(tmp_path, folded(needle), extent, kinds=kinds, after=after, seconds=60)
        assert [match.seq for match in found] == [n for n in expected if not kinds or n % 2]


def test_case_colours_and_nuls_make_no_difference() -> None:
    assert folded("STRASSE") == folded("straße") == b"strasse"
    assert folded("\x1b[31mred\x1b[0m\x00x") == b"red x"
    assert folded("\ud800") == b"\xed\xa0\x80"


def test_the_texts_within_arguments_are_searched_as_they_are() -> None:
    assert list(searchable({"command": 'print("x")\n', "n": 3, "edits": [{"old": "a"}]})) == [
        'print("x")\n',
        "n: 3",
        "a",
    ]


def test_a_search_that_takes_too_long_says_how_far_it_got(tmp_path: Path) -> None:
    extent = written(tmp_path, ["ab" * 500_000] * 20, finished=True)
    first = list(found_in(tmp_path, b"zz", extent, kinds=frozenset(), after=0, seconds=0))
    assert [match.excerpt for match in first] == [b""]
    after = 0
    while first := list(found_in(tmp_path, b"zz", extent, kinds=frozenset(), after=after, seconds=0)):
        assert first[-1].seq > after
        after = first[-1].seq
    assert after < 20


def test_a_growing_file_passes_over_what_is_committed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with GrowingFile(path, 0) as file:
        file.write(b"abcdef")
    with GrowingFile(path, 4) as file:
        assert path.read_bytes() == b"abcd", "what was written after the last commit is cut off"
        for piece in (b"ab", b"cde", b"fgh"):
            file.write(piece)
        assert file.read(2, 5) == b"cdefg"
    assert path.read_bytes() == b"abcdefgh"
    with pytest.raises(OSError, match="8 of 9 bytes"):
        GrowingFile(path, 9)
