"""The store under parallel writers, and what a Retry-After header says."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmark.tasks.services_contract import ServiceFault
from grading.outside.provider import retry_after_s
from grading.outside.store import AnswerStore
from grading.runner.services import SocketServices

NOON = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def test_of_many_writers_all_get_one_answer(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        kept = list(threads.map(lambda n: AnswerStore(tmp_path).put({"q": 1}, {"n": n}), range(64)))
    assert len({answer["n"] for answer in kept}) == 1
    assert AnswerStore(tmp_path).get({"q": 1}) == kept[0]
    assert not list(tmp_path.rglob("*.part"))


def test_a_torn_file_is_no_answer_and_gives_way(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path)
    store.put({"q": 1}, {"n": 1})
    [path] = tmp_path.rglob("*.json")
    path.write_text('{"asked": {"q"')
    assert store.get({"q": 1}) is None
    assert store.put({"q": 1}, {"n": 2}) == {"n": 2}
    assert store.get({"q": 1}) == {"n": 2}


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("-1", 0.0), ("Thu, 01 Jan 2026 12:00:30 GMT", 30.0), ("soon", None), ("", None)],
)
def test_retry_after(header: str, seconds: float | None) -> None:
    assert retry_after_s(header, NOON) == seconds


def test_a_socket_that_nobody_serves_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ServiceFault, match="does not answer on its socket"):
        SocketServices(tmp_path / "nobody.sock").chat({"messages": []})
