"""Secrets that people hand to commands."""

import secrets

import pytest

from benchmark.models import secret_new


def test_none_looks_like_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["-R3f", "--data", "x-y"])
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: next(drawn))
    assert secret_new() == "x-y"
