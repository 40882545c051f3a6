"""BM25 as Lucene computes it, over a catalogue that fits into memory.

score(q, d) = Σ_t qf(t) · idf(t) · f(t, d) / (f(t, d) + k1 · (1 − b + b · |d| / avg)),
idf(t) = ln(1 + (N − n(t) + ½) / (n(t) + ½)) (org.apache.lucene.search.similarities.BM25Similarity, Lucene 8), where |d|
has gone through Lucene's one-byte length: exact below 40, then four significant bits.
"""

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from .analysis import terms

K1 = 0.9
B = 0.4
"""Anserini's defaults."""
EXACT_LENGTHS = 24
"""Lengths below this have a code of their own; further codes hold what exceeds it in a three-bit mantissa."""


class Index:
    """Searches documents given as texts; a document is known by its position."""

    def __init__(self, documents: Sequence[str]) -> None:
        counts = [Counter(terms(text)) for text in documents]
        lengths = [sum(count.values()) for count in counts]
        average = sum(lengths) / max(len(lengths), 1)
        norms = [K1 * (1 - B + B * stored_length(length) / max(average, 1.0)) for length in lengths]
        holding: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for document, count in enumerate(counts):
            for term, frequency in count.items():
                holding[term].append((document, frequency))
        self._postings = {
            term: [(d, _idf(len(documents), len(found)) * f / (f + norms[d])) for d, f in found]
            for term, found in holding.items()
        }

    def search(self, query: str, limit: int) -> list[tuple[int, float]]:
        """The best `limit` documents that share a term with `query`, as (position, score); equals in document order."""
        scores: defaultdict[int, float] = defaultdict(float)
        for term, times in Counter(terms(query)).items():
            for document, weight in self._postings.get(term, ()):
                scores[document] += times * weight
        return heapq.nsmallest(limit, scores.items(), key=lambda hit: (-hit[1], hit[0]))


def stored_length(length: int) -> int:
    """A document's length after Lucene's `SmallFloat.intToByte4` and back: never larger than it was."""
    rest = length - EXACT_LENGTHS
    if rest <= 0:
        return length
    shift = max(rest.bit_length() - 4, 0)
    return EXACT_LENGTHS + (rest >> shift << shift)


def _idf(documents: int, holding: int) -> float:
    return math.log1p((documents - holding + 0.5) / (holding + 0.5))
