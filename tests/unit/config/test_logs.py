"""A run's secret never reaches a log."""

import logging
from io import StringIO

import pytest

from benchmark.models import secret_new
from config.logs import RunSecrets

SECRET = secret_new()


@pytest.fixture
def written() -> tuple[logging.Logger, StringIO]:
    out = StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(RunSecrets())
    logger = logging.Logger("test")
    logger.addHandler(handler)
    return logger, out


def test_the_secret_of_a_grading_url_is_masked(written: tuple[logging.Logger, StringIO]) -> None:
    logger, out = written
    logger.warning("Bad Request: %s", f"/grading/{SECRET}/submit")
    assert out.getvalue() == "Bad Request: /grading/•••/submit\n"


def test_it_is_masked_in_tracebacks_too(written: tuple[logging.Logger, StringIO]) -> None:
    logger, out = written
    try:
        raise ValueError(f"http://127.0.0.1:8000/grading/{SECRET}/time")
    except ValueError:
        logger.exception("failed")
    assert SECRET not in out.getvalue()
    assert "/grading/•••/time" in out.getvalue()


def test_the_deployments_own_keys_are_masked() -> None:
    out = StringIO()
    handler = logging.StreamHandler(out)
    handler.addFilter(RunSecrets(keys=["sk-judge-1234", ""]))
    logger = logging.Logger("test")
    logger.addHandler(handler)
    try:
        raise ValueError("Bearer sk-judge-1234 was refused")
    except ValueError:
        logger.exception("asking with %s", "sk-judge-1234")
    assert "sk-judge-1234" not in out.getvalue()
    assert "asking with •••" in out.getvalue()
    assert "Bearer ••• was refused" in out.getvalue()
