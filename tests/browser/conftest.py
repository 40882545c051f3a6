"""A real server, a real Chromium, and a second process that writes events."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from tests.support.platform import Platform, services
from tests.support.waiting import LONG_S

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--window-size=1440,1000",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not installed")
    options = Options()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    chrome.set_script_timeout(2 * LONG_S)
    try:
        yield chrome
    finally:
        chrome.quit()


@pytest.fixture(scope="module", params=["embedded", pytest.param("services", marks=pytest.mark.services)])
def site(
    request: pytest.FixtureRequest, browser: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    """A server without workers: the tests write what workers would."""
    data = tmp_path_factory.mktemp("site")
    if request.param == "embedded":
        yield from _serving(Platform(data), browser)
    else:
        with services() as environment:
            yield from _serving(Platform(data, environment), browser)


def _serving(platform: Platform, browser: webdriver.Chrome) -> Iterator[Platform]:
    platform.manage("migrate", "-v0")
    with served(platform, browser):
        yield platform


@contextmanager
def served(platform: Platform, browser: webdriver.Chrome) -> Iterator[None]:
    """No page outlives its server: it would ask for it again and again, and log that while others are looked at."""
    platform.start_server()
    try:
        yield
        browser.get("about:blank")
        browser.execute_cdp_cmd("Network.clearBrowserCookies", {})  # the next site has the same host name
    finally:
        platform.stop()
