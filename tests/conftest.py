"""What all tests share: own data folder, real data where it is, patience with generated examples."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling

from tests.support.spreading import group_of, place_of

# How long an example takes is the machine's affair.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
DATA = Path(os.environ.get("AGENT2_TEST_DATA", Path(__file__).resolve().parents[2] / "shared")).absolute()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real benchmark data; tests that need it are skipped where it is absent."""
    if not (DATA / "data").is_dir():
        pytest.skip(f"no benchmark data at {DATA}: name its folder in AGENT2_TEST_DATA")
    return DATA / "data"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: place_of(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files and folders in the order in which they were collected."""
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    scheduler = LoadFileScheduling(config, log)
    scheduler._split_scope = group_of
    return scheduler


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why tests were tried again, which the plugin that does so keeps to itself."""
    again = terminalreporter.stats.get("rerun", [])
    if again:
        terminalreporter.section("failed at first")
    for report in again:
        terminalreporter.write_line(f"{report.nodeid} ({report.when})", bold=True)
        terminalreporter.write_line(report.longreprtext[-3000:])
