"""Requests are counted anew for each test, and no minute in which they are counted ends during one."""

from types import SimpleNamespace

import pytest
from django.core.cache import cache

from frontend.api import throttling


@pytest.fixture(autouse=True)
def _counted_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.clear()
    monkeypatch.setattr(throttling, "time", SimpleNamespace(time=lambda: 1_800_000_030.0))
