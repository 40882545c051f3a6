"""A sweep mends every row that can be mended."""

import pytest
from django.db import OperationalError

from benchmark.jobs import runs_sweep
from benchmark.models import RunState
from benchmark.services.sweeping import sweep
from tests.support.rows import run_row

pytestmark = pytest.mark.django_db


def test_a_run_that_cannot_be_settled_keeps_no_other_waiting(caplog: pytest.LogCaptureFixture) -> None:
    bad = run_row(state=RunState.FINISHING, outcome="")
    good = run_row(state=RunState.FINISHING, outcome=RunState.FINISHED)
    assert bad.pk < good.pk

    runs_sweep()

    bad.refresh_from_db()
    good.refresh_from_db()
    assert (bad.state, good.state) == (RunState.FINISHING, RunState.FINISHED)
    assert f"could not mend {bad.pk}" in caplog.text


def test_a_lost_database_ends_the_sweep() -> None:
    seen: list[int] = []

    def mend(row: int) -> None:
        seen.append(row)
        raise OperationalError("gone")

    with pytest.raises(OperationalError):
        sweep([1, 2], mend)
    assert seen == [1]
