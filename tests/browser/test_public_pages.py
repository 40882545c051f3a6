"""A visitor's way through the public pages in Chromium: both themes and widths, axe, no shift, nothing foreign."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from tests.browser.conftest import served
from tests.support.axe import violations
from tests.support.platform import Platform
from tests.support.waiting import until

pytestmark = pytest.mark.browser
PAGES = {
    "leaderboard": "/",
    "filtered": "/?level=L3&agent=claude-code&agent=codex-cli&sort=-webshop&cols=gain&hide=runs&from=2026-01-01",
    "nothing found": "/?agent=nobody",
    "bad address": "/?level=L9",
    "runs": "/runs/",
    "runs filtered": "/runs/?task=gsm8k&sort=-score",
    "tasks": "/tasks/",
    "task": "/tasks/alfworld/",
    "not found": "/nothing/here",
}
SIZES = {"wide": (1440, 1000), "narrow": (390, 844)}
SHIFT = """
const done = arguments[0]; let sum = 0;
const add = (list) => { for (const entry of list.getEntries()) sum += entry.value; };
new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
setTimeout(() => done(sum), 600);
"""


@pytest.fixture(scope="module")
def filled(browser: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """The embedded default with the published results."""
    platform = Platform(tmp_path_factory.mktemp("public"))
    platform.manage("migrate", "-v0")
    platform.manage("load_published", "-v0")
    with served(platform, browser):
        yield platform


@pytest.fixture
def sized(browser: webdriver.Chrome, request: pytest.FixtureRequest) -> Iterator[webdriver.Chrome]:
    """The browser at one width and theme; as it was, afterwards."""
    (width, height), theme = request.param
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


EVERY = [
    pytest.param((size, theme), id=f"{name}-{theme}") for name, size in SIZES.items() for theme in ("light", "dark")
]


@pytest.mark.parametrize("sized", EVERY, indirect=True)
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_axe_finds_nothing_and_nothing_sticks_out(path: str, sized: webdriver.Chrome, filled: Platform) -> None:
    sized.get(filled.url + path)
    assert violations(sized) == []
    beyond = sized.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert beyond <= 0


@pytest.mark.parametrize("sized", EVERY[:1], indirect=True)
@pytest.mark.parametrize("path", ["/", "/runs/", "/tasks/", "/tasks/gsm8k/"])
def test_nothing_shifts_is_foreign_or_told_off_by_the_policy(
    path: str, sized: webdriver.Chrome, filled: Platform
) -> None:
    sized.get_log("browser")  # type: ignore[no-untyped-call]
    sized.get(filled.url + path)
    shift: Any = sized.execute_async_script(SHIFT)
    assert shift < 0.05
    loaded = sized.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert {urlsplit(url).netloc for url in loaded} == {urlsplit(filled.url).netloc}
    assert [e["message"] for e in sized.get_log("browser") if e["level"] == "SEVERE"] == []  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("sized", EVERY[:1], indirect=True)
def test_the_board_is_light(sized: webdriver.Chrome, filled: Platform) -> None:
    """Under 200 KB over the wire, with nothing cached."""
    sized.execute_cdp_cmd("Network.enable", {})
    sized.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    sized.get(filled.url + "/")
    sized.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": False})
    size = sized.execute_script(
        "return [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
        ".reduce((sum, entry) => sum + entry.transferSize, 0)"
    )
    assert 5_000 < size < 200_000


@pytest.mark.parametrize("sized", EVERY[:1], indirect=True)
def test_a_visitor_narrows_sorts_and_opens(sized: webdriver.Chrome, filled: Platform) -> None:
    sized.get(filled.url + "/")
    assert "Can an LLM agent" in sized.find_element(By.TAG_NAME, "h1").text
    Select(sized.find_element(By.NAME, "agent")).select_by_visible_text("Codex CLI")
    sized.find_element(By.CSS_SELECTOR, "#filters button").click()
    until(lambda: "agent=codex-cli" in sized.current_url, "the filter is in the address")
    stacks = sized.find_elements(By.CSS_SELECTOR, "tr:not(.baseline):not(.pick) > th.stack")
    assert {th.text.split("\n")[0] for th in stacks} == {"Codex CLI GPT-5.2", "Codex CLI GPT-5.4"}
    sized.find_element(By.LINK_TEXT, "AlpacaEval 2.0").click()
    until(lambda: "sort=-alpacaeval" in sized.current_url, "the order is in the address")
    first = sized.find_element(By.CSS_SELECTOR, "tr:not(.baseline) > th.stack")
    assert "GPT-5.4" in first.text
    sized.find_element(By.CSS_SELECTOR, "a.chip.on").click()
    until(lambda: "agent=" not in sized.current_url, "the filter is gone from the address")
    sized.find_element(By.CSS_SELECTOR, "td.c.best a").click()
    until(lambda: "/runs/paper-" in sized.current_url, "the run's page opens")
    assert "published" in sized.find_element(By.TAG_NAME, "main").text.lower()


@pytest.mark.parametrize("sized", EVERY[:1], indirect=True)
def test_a_task_is_drawn(sized: webdriver.Chrome, filled: Platform) -> None:
    sized.get(filled.url + "/tasks/webshop/")
    drawn = "const done = arguments[0]; const look = () => document.querySelectorAll('.plot .main-svg').length >= 2 "
    assert sized.execute_async_script(drawn + "? done(true) : setTimeout(look, 50); look();")
    assert "WebShop" in sized.title
