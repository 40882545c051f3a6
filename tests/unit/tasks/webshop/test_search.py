"""Search agrees with Lucene, its analysis with Lucene's English analyzer."""

import json
import time
from pathlib import Path

import pytest

from benchmark.tasks.webshop.webshop_env import Shop
from benchmark.tasks.webshop.webshop_env.analysis import terms
from benchmark.tasks.webshop.webshop_env.index import Index, stored_length


def _golden(folder: Path) -> list[tuple[str, list[str]]]:
    queries = (folder / "golden_lucene_queries.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    answers = (folder / "golden_lucene_top50.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    hits = [[hit.partition(":")[0] for hit in line.split()] for line in answers]
    return list(zip(queries, hits, strict=True))


def test_agrees_with_lucene(shop: Shop, webshop_files: Path) -> None:
    golden = _golden(webshop_files)
    found = [[product.asin for product in shop.find(query)] for query, _ in golden]
    first = sum(ours[0] == hits[0] for ours, (_, hits) in zip(found, golden, strict=True))
    ten = sum(ours[:10] == hits[:10] for ours, (_, hits) in zip(found, golden, strict=True))
    assert len(golden) == 150
    assert first >= 0.99 * len(golden)
    assert ten >= 0.95 * len(golden)


def test_indexes_the_documents_that_lucene_had(shop: Shop, webshop_files: Path) -> None:
    lines = (webshop_files / "documents_1k.jsonl").read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    assert [(d["id"], d["contents"]) for d in documents] == [(p.asin, p.searchable) for p in shop.products.values()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Men's running shoes", ["men", "run", "shoe"]),
        ("possibly technology technologies technological", ["possibl", "technolog", "technolog", "technolog"]),
        ("ably bly", ["abli", "bly"]),
        ("16.5 x 2,000 3;4 a.b.c", ["16.5", "x", "2,000", "3;4", "a.b.c"]),
        ('size: 8x10 inch, 28" x 28"', ["size", "8x10", "inch", "28", "x", "28"]),
        ("blue | red", ["blue", "red"]),
        ("under_score __ end.", ["under_scor", "end"]),
        ("日本 ★ ✔ ©", ["日", "本", "★", "✔", "©"]),
        ("to be or not", []),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_long_words_are_cut() -> None:
    assert [len(term) for term in terms("9" * 600)] == [255, 255, 90]


def test_stored_length_keeps_four_bits() -> None:
    assert [stored_length(n) for n in (0, 24, 39, 40, 41, 42, 56, 59, 1000)] == [0, 24, 39, 40, 40, 42, 56, 56, 984]


def test_equal_scores_come_in_document_order() -> None:
    index = Index(["red shoe", "blue hat", "red shoe", "red shoe"])
    assert [position for position, _ in index.search("red", 2)] == [0, 2]
    assert index.search("green", 5) == []
    assert Index([]).search("red", 5) == []


def test_a_repeated_word_counts_again() -> None:
    index = Index(["red shoe", "blue hat"])
    once, twice = index.search("red", 1)[0][1], index.search("red red", 1)[0][1]
    assert twice == pytest.approx(2 * once)


def test_is_fast(shop: Shop, webshop_files: Path) -> None:
    """Processor seconds, so that a busy machine does not matter; generous against slow ones."""
    start = time.process_time()
    fresh = Shop(list(shop.products.values()))
    built = time.process_time()
    for query, _ in _golden(webshop_files):
        fresh.find(query)
    assert built - start < 4
    assert (time.process_time() - built) / 150 < 0.01
