"""Text to index terms as Lucene's English analysis does it: words, no possessives, no stop words, Porter stems.

The steps are those of Anserini's `DefaultEnglishAnalyzer`: StandardTokenizer (word boundaries of Unicode Annex #29),
EnglishPossessiveFilter, LowerCaseFilter, StopFilter, PorterStemFilter.
"""

from functools import lru_cache

import regex  # type: ignore[import-untyped]
import Stemmer  # type: ignore[import-not-found, unused-ignore]

_STOP_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Lucene's `EnglishAnalyzer.ENGLISH_STOP_WORDS_SET`."""
MAX_TERM = 255
"""StandardTokenizer cuts longer words into pieces of this length."""
PICTURES = r"\p{Extended_Pictographic}★☆"
"""One term each. The last two have lost that property in newer Unicode versions than Lucene 8's."""

_LETTER = r"[\p{WB=ALetter}\p{WB=Hebrew_Letter}]"
_QUOTES = r"\p{WB=MidNumLet}\p{WB=Single_Quote}"
_WORD = regex.compile(
    rf"""
    (?: [\p{{WB=ALetter}}\p{{WB=Hebrew_Letter}}\p{{WB=Numeric}}\p{{WB=Katakana}}\p{{WB=ExtendNumLet}}] \p{{WB=Extend}}*
      | (?<={_LETTER}) [\p{{WB=MidLetter}}{_QUOTES}] (?={_LETTER})
      | (?<=\p{{WB=Numeric}}) [\p{{WB=MidNum}}{_QUOTES}] (?=\p{{WB=Numeric}})
    )+
    | [\p{{Han}}\p{{Hiragana}}]
    | [{PICTURES}] \ufe0f?
    """,
    regex.VERBOSE,
)
_POSSESSIVE = regex.compile(r"['\u2019\uff07]s$")
_MARTIN = (
    (regex.compile(r"(?<=[aeiouy][^aeiouy].*)bly$"), "ble"),
    (regex.compile(r"(?<=[aeiouy][^aeiouy].*)log(y|ies)$"), "log"),
)
"""What the author's own stemmer, which Lucene follows, does beyond the published algorithm."""
_PORTER = Stemmer.Stemmer("porter")


def terms(text: str) -> list[str]:
    """The index terms of `text`, in order, with repetitions."""
    found = []
    for match in _WORD.finditer(text):
        word = match.group().lower()
        if word.strip("_"):
            found += [
                term for start in range(0, len(word), MAX_TERM) if (term := _term(word[start : start + MAX_TERM]))
            ]
    return found


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    """The stem, or nothing for a stop word."""
    word = _POSSESSIVE.sub("", word)
    if word in STOP_WORDS or len(word) < 3:
        return "" if word in STOP_WORDS else word
    for pattern, replacement in _MARTIN:
        word = pattern.sub(replacement, word)
    return str(_PORTER.stemWord(word))
