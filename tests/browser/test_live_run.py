"""The live run page in Chromium: another process writes, the open page follows, also over the death of its server."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.support.platform import ROOT, Platform
from tests.support.waiting import LONG_S, until

pytestmark = pytest.mark.browser


class Writer:
    """The other process."""

    def __init__(self, site: Platform) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.writer"],
            cwd=ROOT, env=site.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __call__(self, do: str, **values: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **values}) + "\n")
        self._process.stdin.flush()
        return dict(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(LONG_S)


@pytest.fixture
def writer(site: Platform) -> Iterator[Writer]:
    process = Writer(site)
    yield process
    process.close()


def ask(browser: webdriver.Chrome, script: str) -> Any:
    return browser.execute_script(f"return {script}")


def text(browser: webdriver.Chrome, selector: str) -> str:
    """What an element says now; empty when it is not there. In one step, for the page may swap it at any time."""
    return str(ask(browser, f"document.querySelector({json.dumps(selector)})?.innerText ?? ''"))


def opened(browser: webdriver.Chrome, site: Platform, writer: Writer) -> str:
    """A new run's page, connected and drawn; its slug.

    The page before it goes first: one whose server has ended meanwhile asks for it again and again, and logs that.
    """
    browser.get("about:blank")
    browser.get_log("browser")  # type: ignore[no-untyped-call]
    slug = str(writer("run")["slug"])
    browser.get(f"{site.url}/runs/{slug}/")
    until(lambda: "live" in text(browser, "#live"), "the page is live")
    until(lambda: ask(browser, "document.querySelector('#curve .main-svg') !== null"), "the curve is drawn")
    return slug


def errors(browser: webdriver.Chrome) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser")]  # type: ignore[no-untyped-call]


def curve(browser: webdriver.Chrome, name: str) -> list[float]:
    """The values that one trace of the drawn curve has."""
    found = f"(document.getElementById('curve').data ?? []).find((trace) => trace.name === '{name}')?.y ?? []"
    return list(ask(browser, found))


def test_scores_of_another_process_reach_the_table_the_facts_and_the_curve(
    browser: webdriver.Chrome, site: Platform, writer: Writer
) -> None:
    opened(browser, site, writer)
    assert "No submission yet" in text(browser, "#reading")
    writer("score", value=46.6)
    writer("reject", message="<script>document.title='hacked'</script>")
    writer("score", value=65.2)
    until(lambda: "65.20" in text(browser, "#reading"), "the reading follows")
    assert "55.10 above the base model, after 3 submissions" in text(browser, "#reading")
    assert text(browser, "#s3 .sc").startswith("65.20")
    assert "E_TEST" in text(browser, "#s2 .why")
    until(lambda: curve(browser, "best so far")[-1:] == [65.2], "the curve follows")
    assert curve(browser, "rejected") == [0]
    assert "hacked" not in browser.title
    writer("log", text="\x1b[32mreward up\x1b[0m <b>not bold</b>\n")
    until(lambda: "reward up <b>not bold</b>" in text(browser, "#log"), "the log follows")
    assert text(browser, "#log .a-green") == "reward up"
    writer("end")
    until(lambda: "ended" in text(browser, "#live"), "the end is told")
    assert text(browser, "#head .state") == "finished"
    assert errors(browser) == []


def test_a_score_is_on_the_page_at_once(
    browser: webdriver.Chrome, site: Platform, writer: Writer, request: pytest.FixtureRequest
) -> None:
    opened(browser, site, writer)
    browser.execute_script(
        "window.seen = {}; new MutationObserver(() => { for (const row of document.querySelectorAll('.subs tbody tr'))"
        " window.seen[row.id] ??= Date.now() / 1000; })"
        ".observe(document.getElementById('run'), {childList: true, subtree: true})"
    )
    took = []
    for number in range(1, 11):
        committed = writer("score", value=float(number))["at"]
        seen = f"window.seen.s{number} ?? null"
        until(partial(ask, browser, seen), f"#{number} is on the page")
        took.append(ask(browser, seen) - committed)
        time.sleep(0.3)
    kind = "services" if site.extra else "embedded"
    print(f"{kind}: median {statistics.median(took):.3f} s, slowest {max(took):.3f} s")
    assert statistics.median(took) < 10


def test_the_death_of_the_server_loses_and_repeats_nothing(
    browser: webdriver.Chrome, site: Platform, writer: Writer
) -> None:
    opened(browser, site, writer)
    first = int(ask(browser, "document.getElementById('run').dataset.seq"))
    writer("score", value=20.0)
    until(lambda: browser.find_elements(By.ID, "s1"), "the first score")
    site.kill("server")
    until(lambda: "reconnecting" in text(browser, "#live"), "the break is told")
    for value in (30.0, 5.0, 40.0):
        last = writer("score", value=value)
    site.start_server()
    until(lambda: "live" in text(browser, "#live"), "the page is live again")
    until(lambda: len(browser.find_elements(By.CSS_SELECTOR, ".subs tbody tr")) == 4, "all four are there")
    data = ask(browser, "({...document.getElementById('run').dataset})")
    assert int(data["seq"]) == last["seq"]
    assert int(data["received"]) == last["seq"] - first
    until(lambda: curve(browser, "best so far")[-1:] == [40.0], "the curve has caught up")
    unexpected = [text for text in errors(browser) if "net::ERR_" not in text and "WebSocket" not in text]
    assert unexpected == []


def test_the_curve_changes_its_colours_with_the_theme(
    browser: webdriver.Chrome, site: Platform, writer: Writer
) -> None:
    opened(browser, site, writer)
    paper = "document.getElementById('curve').layout.paper_bgcolor"
    before = ask(browser, paper)
    browser.find_element(By.CSS_SELECTOR, "[data-theme-toggle]").click()
    until(lambda: ask(browser, paper) != before, "the paper changes")
    body = "getComputedStyle(document.body).backgroundColor"
    until(lambda: ask(browser, paper) == ask(browser, body), "the paper has the page's colour")
    browser.find_element(By.CSS_SELECTOR, "[data-theme-toggle]").click()
    assert errors(browser) == []


@pytest.mark.parametrize("width", [1440, 390])
def test_no_page_is_wider_than_the_screen_and_none_breaks_the_policy(
    browser: webdriver.Chrome, site: Platform, writer: Writer, width: int
) -> None:
    slug = opened(browser, site, writer)
    writer("score", value=33.0)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        for path in ("/", "/runs/", f"/runs/{slug}/", f"/runs/{slug}/?x=submissions", "/queue/", "/login/"):
            browser.get(site.url + path)
            time.sleep(0.5)
            assert ask(browser, "document.documentElement.scrollWidth") <= width, path
            wrong = [text for text in errors(browser) if "Security Policy" in text or "Uncaught" in text]
            assert wrong == [], path
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
