"""What is missing in the settings of the search is told in one line."""

from pathlib import Path
from typing import Any

import pytest

from grading.outside.search.configure import BACKENDS, SearchNotConfigured, SearchSettings, check_search, open_search


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, "AGENT2_SEARCH_BACKEND"),
        ({"backend": "altavista"}, "AGENT2_SEARCH_BACKEND"),
        ({"backend": "brave"}, "AGENT2_SEARCH_KEY"),
        ({"backend": "serpapi"}, "AGENT2_SEARCH_KEY"),
        ({"backend": "tavily"}, "AGENT2_SEARCH_KEY"),
        ({"backend": "searxng"}, "AGENT2_SEARCH_URL"),
        ({"backend": "corpus"}, "AGENT2_SEARCH_URL"),
        ({"backend": "corpus", "url": "/nowhere"}, "/nowhere"),
        ({"backend": "brave", "key": "k", "mode": "sometimes"}, "AGENT2_SEARCH_MODE"),
        ({"backend": "brave", "key": "k", "snapshot": "../up"}, "AGENT2_SEARCH_SNAPSHOT"),
        ({"backend": "brave", "key": "k", "snapshot": ""}, "AGENT2_SEARCH_SNAPSHOT"),
    ],
)
def test_what_is_missing_is_named(settings: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(SearchNotConfigured, match=told):
        open_search(SearchSettings(**settings), tmp_path)


def test_what_is_enough(tmp_path: Path) -> None:
    corpus = tmp_path / "documents.jsonl"
    corpus.write_text("")
    enough: dict[str, dict[str, Any]] = {
        **{backend: {"key": "k"} for backend in ("serpapi", "brave", "tavily")},
        "searxng": {"url": "http://127.0.0.1:8080"},
        "duckduckgo": {},
        "corpus": {"url": str(corpus)},
    }
    assert set(enough) == set(BACKENDS)
    for backend, settings in enough.items():
        check_search(SearchSettings(backend=backend, **settings))
    check_search(SearchSettings(backend="brave", mode="replay-only"))


def test_a_key_is_not_shown() -> None:
    assert "secret" not in repr(SearchSettings(backend="brave", key="secret"))
