import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontend.ansi import plain, spans


def test_colours_become_classes() -> None:
    assert spans("a \x1b[32mgreen\x1b[0m b") == [("", "a "), ("a-green", "green"), ("", " b")]
    assert spans("\x1b[1;31mx\x1b[22my\x1b[39mz") == [("a-red a-bold", "x"), ("a-red", "y"), ("", "z")]
    assert spans("\x1b[90mdim") == [("a-dim", "dim")]


@pytest.mark.parametrize(
    "noise",
    [
        "\x1b[2J",
        "\x1b[10;5H",
        "\x1b]0;title\x07",
        "\x1b]8;;http://x\x1b\\",
        "\x1b(B",
        "\x00",
        "\x07",
        "\x9b",
        "\x1b[?25l",
        "\x1b[38;5;196m",
    ],
)
def test_other_sequences_vanish(noise: str) -> None:
    assert plain(f"a{noise}b") == "ab"


def test_a_progress_bar_keeps_its_last_state() -> None:
    assert plain("10%\r50%\r100%\r\nnext\r\n") == "100%\nnext\n"


def test_a_sequence_cut_by_the_tail_is_inert() -> None:
    assert plain("x\x1b[3") == "x"
    assert plain("x\x1b") == "x"


@given(st.text())
def test_no_control_code_survives(text: str) -> None:
    kept = plain(text)
    assert not any(ord(character) < 32 and character not in "\n\t" for character in kept)
    assert "\x1b" not in kept
    assert "\x7f" not in kept


@given(st.text(alphabet=st.characters(exclude_categories=["Cc"])))
def test_text_without_control_codes_is_kept(text: str) -> None:
    assert plain(text) == text
