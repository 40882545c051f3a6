"""Documents on this machine as a search."""

import json
from pathlib import Path

import pytest

from grading.outside.provider import Counts
from grading.outside.search.configure import SearchNotConfigured, SearchSettings, open_search
from grading.outside.search.corpus import BadCorpus, Corpus

DOCUMENTS = [
    {
        "title": "Orders",
        "url": "https://court.example/orders",
        "text": "Filler text. " * 60 + "Certiorari was denied 86 times.",
    },
    {"title": "Shoulders", "url": "https://health.example/shoulder", "text": "Hypermobility causes poor balance."},
    {"title": "Balance sheets", "url": "https://money.example", "text": "Balance of a bank."},
    {"title": "Empty", "url": "https://empty.example", "text": ""},
]


def write(path: Path, documents: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


async def test_the_best_passage_of_each_document(tmp_path: Path) -> None:
    corpus = Corpus(write(tmp_path / "documents.jsonl", DOCUMENTS), Counts())
    [hit] = await corpus.search("certiorari denied", 3)
    assert hit.url == "https://court.example/orders"
    assert "86 times" in hit.snippet
    assert len(hit.snippet) <= 400
    assert [hit.title for hit in await corpus.search("poor balance", 3)] == ["Shoulders", "Balance sheets"]
    assert [hit.title for hit in await corpus.search("poor balance", 1)] == ["Shoulders"]
    assert await corpus.search("zebra", 3) == []
    assert [hit.title for hit in await corpus.search("empty", 3)] == ["Empty"]


async def test_a_document_fills_one_hit_only(tmp_path: Path) -> None:
    corpus = Corpus(write(tmp_path / "documents.jsonl", DOCUMENTS), Counts())
    assert [hit.title for hit in await corpus.search("filler text", 3)] == ["Orders"]


async def test_a_folder_is_all_its_files(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", DOCUMENTS[:1])
    write(tmp_path / "b.jsonl", DOCUMENTS[1:])
    (tmp_path / "notes.txt").write_text("not a document")
    assert len(await Corpus(tmp_path, Counts()).search("balance certiorari", 3)) == 3


async def test_another_corpus_is_not_answered_from_the_first_ones_snapshot(tmp_path: Path) -> None:
    path = write(tmp_path / "documents.jsonl", DOCUMENTS[:2])
    settings = SearchSettings(backend="corpus", url=str(path))
    asked = {"query": "balance", "count": 3}
    desks = [open_search(settings, tmp_path / "store") for _ in range(2)]
    first, again = [await desk(asked) for desk in desks]
    assert again == first
    assert [desk.metrics()["search_calls"] for desk in desks] == [1, 0]
    write(path, DOCUMENTS)
    second = await open_search(settings, tmp_path / "store")(asked)
    assert (len(first["hits"]), len(second["hits"])) == (1, 2)


@pytest.mark.parametrize("line", ["{", "[]", '{"title": "a", "url": "b"}', '{"title": "a", "url": "", "text": "c"}'])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "documents.jsonl", DOCUMENTS)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(BadCorpus, match=r"documents\.jsonl, line 5"):
        Corpus(path, Counts())
    with pytest.raises(SearchNotConfigured, match="AGENT2_SEARCH_URL"):
        open_search(SearchSettings(backend="corpus", url=str(path)), tmp_path / "store")
