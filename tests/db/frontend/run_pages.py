"""Asking for a run's pages."""

from typing import Any

from django.test import Client

from benchmark.models import Run


def text(client: Client, run: Run, part: str = "", status: int = 200, **query: Any) -> str:
    """What `/runs/<slug>/<part>` answers, once the status is as expected; `query` takes the place of one in `part`."""
    answer = client.get(f"/runs/{run.slug}/{part}", query)
    assert answer.status_code == status, answer.content[:300]
    return answer.content.decode()
