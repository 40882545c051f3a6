"""The trace explorer in Chromium: reading, keyboard, filters, links, a trace that grows, a phone, and 100,000 calls."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.support.platform import ROOT, Platform
from tests.support.waiting import LONG_S, until

pytestmark = pytest.mark.browser
MOST = 1000
LISTEN = """['select', 'note', 'type'].forEach((name) => addEventListener(`trace:${name}`, ({detail}) => {
  (window.__told ??= []).push([name, detail]); }))"""


class Writer:
    """The other process."""

    def __init__(self, site: Platform) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.browser.trace_writer"],
            cwd=ROOT, env=site.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def __call__(self, do: str, **values: Any) -> str:
        """The slug of the run that the command made."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **values}) + "\n")
        self._process.stdin.flush()
        return str(json.loads(self._process.stdout.readline())["slug"])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(LONG_S)


@pytest.fixture(scope="module")
def writer(site: Platform) -> Iterator[Writer]:
    process = Writer(site)
    yield process
    process.close()


@pytest.fixture(scope="module")
def telling(writer: Writer) -> str:
    return writer("telling")


@pytest.fixture(scope="module")
def many(writer: Writer) -> str:
    return writer("long", calls=3000)


class Page:
    """The explorer, as a person sees and uses it."""

    def __init__(self, browser: webdriver.Chrome, site: Platform) -> None:
        self.browser, self.site = browser, site

    def open(self, slug: str, query: str = "") -> "Page":
        self.browser.get("about:blank")
        self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        self.browser.get(f"{self.site.url}/runs/{slug}/trace/{query}")
        self.until(lambda: self.ask("document.querySelector('#tr-out .outline') !== null"), "the outline is there")
        return self

    def ask(self, script: str) -> Any:
        return self.browser.execute_script(f"return {script}")

    def until(self, true: Callable[[], Any], what: str) -> None:
        until(true, what)

    def press(self, keys: str) -> None:
        self.browser.switch_to.active_element.send_keys(keys)

    @property
    def current(self) -> int:
        return int(self.ask("document.querySelector('.ev.cur')?.dataset.seq ?? 0"))

    @property
    def shown(self) -> list[int]:
        """Events within the list's box."""
        return list(
            self.ask(
                "(() => { const box = document.getElementById('tr-list').getBoundingClientRect(); return [...document"
                ".querySelectorAll('.ev')].filter((row) => { const at = row.getBoundingClientRect(); return at.bottom >"
                " box.top + 2 && at.top < box.bottom - 2; }).map((row) => Number(row.dataset.seq)); })()"
            )
        )

    @property
    def filled(self) -> bool:
        """Whether rows reach the bottom of the list's box."""
        last = "[...document.querySelectorAll('.ev')].at(-1)?.getBoundingClientRect().bottom"
        return bool(self.ask(f"{last} >= document.getElementById('tr-list').getBoundingClientRect().bottom"))

    @property
    def elements(self) -> int:
        return int(self.ask("document.getElementsByTagName('*').length"))

    @property
    def tally(self) -> str:
        return str(self.ask("document.getElementById('tr-count').textContent"))

    def row(self, seq: int) -> str:
        return str(self.ask(f"document.getElementById('e{seq}')?.innerText ?? ''"))

    def scroll(self, fraction: float) -> None:
        box = "document.getElementById('tr-list')"
        self.ask(f"{box}.scrollTo(0, {fraction} * ({box}.scrollHeight - {box}.clientHeight))")

    @property
    def wide(self) -> Any:
        """What sticks out on the right."""
        return self.ask(
            "[...document.querySelectorAll('*')].filter((one) => one.getBoundingClientRect().right > 391)"
            ".map((one) => `${one.tagName} ${one.className} ${one.id}`)"
        )

    def errors(self) -> list[str]:
        return [entry["message"] for entry in self.browser.get_log("browser")]  # type: ignore[no-untyped-call]


@pytest.fixture
def page(browser: webdriver.Chrome, site: Platform) -> Page:
    return Page(browser, site)


def test_nothing_in_a_hostile_transcript_runs_and_nothing_is_refused_by_the_policy(page: Page, telling: str) -> None:
    page.open(telling)
    page.press("j")
    for _ in range(14):
        page.press("e")
        page.press("j")
    page.until(lambda: page.ask("document.querySelectorAll('.full').length") > 4, "events unfolded")
    page.until(lambda: page.ask("document.querySelector('img.thumb')?.naturalWidth") == 8, "the picture is drawn")
    page.press("r")
    page.until(lambda: page.ask("document.querySelector('.a-red')?.textContent") == "red", "its colours are there")
    page.until(lambda: page.ask("document.querySelectorAll('.diff .del').length") == 1, "the edit is shown as such")
    assert page.ask("window.__xss") is None
    assert page.errors() == []
    assert page.elements < MOST


def test_keys_walk_unfold_select_and_call_others(page: Page, telling: str) -> None:
    page.open(telling)
    page.ask(LISTEN)
    page.press("j")
    first = page.current
    page.press("j")
    page.press("j")
    page.press("k")
    assert page.current == first + 1
    page.press("J")
    page.press("J")
    assert page.ask("document.querySelectorAll('.ev.in-span').length") == 3
    page.press("n")
    page.press("3")
    told = page.ask("window.__told")
    assert [name for name, _ in told[-2:]] == ["note", "type"]
    assert told[-1][1] | {"trace": ""} == {
        "type": 3,
        "first": first + 1,
        "last": first + 3,
        "seq": first + 3,
        "trace": "",
    }
    page.press("e")
    page.until(lambda: page.ask("document.querySelector('.ev.cur .full') !== null"), "it unfolded")
    page.press("e")
    page.until(lambda: page.ask("document.querySelector('.ev.cur .full') === null"), "it folded")
    page.press("?")
    assert page.ask("document.getElementById('tr-keys').open") is True
    page.press(Keys.ESCAPE)
    assert page.ask("document.getElementById('tr-keys').open") is False
    page.press("/")
    assert page.ask("document.activeElement.name") == "q"
    page.press("jk3")
    assert page.ask("document.activeElement.value") == "jk3"


def test_filters_and_search_say_how_many_of_how_many_and_stand_in_the_address(page: Page, telling: str) -> None:
    page.open(telling)
    total = page.tally
    page.browser.find_element(By.CSS_SELECTOR, "[name=kind][value=errors]").click()
    page.until(lambda: page.tally.startswith("1 of "), "one error")
    assert page.ask("location.search") == "?kind=errors"
    rows = "document.getElementById('tr-events').innerText"
    page.until(lambda: "It does not exist." in page.ask(rows), "the error is in the list")
    page.browser.find_element(By.CSS_SELECTOR, "[name=kind][value=errors]").click()
    page.until(lambda: page.tally == total, "all again")
    page.press("/")
    page.press("SUBMISSION_ID")
    page.until(lambda: page.tally == f"2 matches in {total}", "two matches")
    page.until(lambda: len(page.shown) == 2, "both are in the list")
    page.until(lambda: page.ask("CSS.highlights.get('found')?.size ?? 0") >= 2, "both are marked")
    page.browser.refresh()
    page.until(lambda: page.tally == f"2 matches in {total}", "two matches after a reload")


def test_a_link_shows_its_event_through_any_filter(page: Page, many: str) -> None:
    page.open(many, "?line=3001&call=toolu_001500&kind=raw&q=zzz")
    page.until(lambda: "echo 1499" in page.row(page.current), "the event is there")
    page.until(lambda: page.current in page.shown, "the event is on the screen")
    assert page.ask("document.querySelector('.ev.cur').classList.contains('outside')") is True
    page.open(many, "?line=3001&call=toolu_001500")
    page.until(lambda: page.current in page.shown, "the event is on the screen")
    href = page.ask("document.querySelector('.ev.cur .gut a').getAttribute('href')")
    page.press("c")
    page.until(lambda: page.ask("location.search") == href, "the link is in the address")
    seq = page.current
    page.open(many, href)
    page.until(lambda: page.current == seq, "the link leads there")


def test_go_to_an_event_a_time_or_nowhere(page: Page, many: str) -> None:
    page.open(many)
    for words, told in (("4,000", "echo"), ("2:00:30", "2:00:30"), ("toolu_002000", "echo 1999")):
        page.press("t")
        page.press(words + Keys.ENTER)
        page.until(lambda told=told: told in page.row(page.current), f"{words} is there")  # type: ignore[misc]
        page.until(lambda: page.current in page.shown, f"{words} is on the screen")
        page.press(Keys.ESCAPE)
    page.press("t")
    page.press("nowhere" + Keys.ENTER)
    page.until(lambda: "Write an event" in page.ask("document.getElementById('tr-problem').innerText"), "it says so")


def test_the_curve_and_the_list_lead_to_each_other(page: Page, writer: Writer) -> None:
    page.open(writer("graded"))
    marks = page.browser.find_elements(By.CSS_SELECTOR, "#tr-strip a[data-seq]")
    assert [mark.get_attribute("aria-label") for mark in marks] == [
        "Submission 1: 20.50, new best",
        "Submission 2: 10.00",
    ]
    marks[1].send_keys(Keys.ENTER)
    page.until(lambda: "submission_id" in page.row(page.current), "the submission's event")
    assert "Submission 2: 10.00" in page.row(page.current)
    assert page.ask("document.getElementById('tr-sel').classList.contains('on')") is True
    page.press("k")
    assert page.ask("document.getElementById('tr-sel').classList.contains('on')") is False
    page.press("t")
    page.press("#1" + Keys.ENTER)
    page.until(lambda: "Submission 1: 20.50" in page.row(page.current), "the first one's event")
    place = page.ask("document.querySelector('#tr-strip a use').getAttribute('x')")
    assert page.ask("document.getElementById('tr-sel').getAttribute('cx')") == place
    assert page.ask("document.querySelector('.osub [aria-current]').dataset.mark") == "1"


def test_scrolling_reaches_every_event_once_and_in_order(page: Page, many: str) -> None:
    page.open(many)
    seen = page.shown
    for _ in range(60):
        before = page.shown
        page.ask("document.getElementById('tr-list').scrollBy(0, 250)")
        page.until(lambda before=before: page.shown != before and page.filled, "the list moves")  # type: ignore[misc]
        seen += [seq for seq in page.shown if seq > seen[-1]]
        assert page.elements < MOST
    assert seen == [1, *range(2, seen[-1] + 1, 2)]


def test_the_list_follows_only_at_its_end(page: Page, writer: Writer) -> None:
    page.open(writer("open", calls=60))
    page.until(lambda: 120 in page.shown, "it opens at the end")
    writer("grow", calls=2)
    page.until(lambda: 124 in page.shown, "it follows")

    def at_the_beginning() -> bool:
        """Scrolled to again and again: the list may still be following what grew before."""
        page.scroll(0)
        return 1 in page.shown

    page.until(at_the_beginning, "the beginning")
    writer("grow", calls=3)
    page.until(lambda: page.browser.find_element(By.ID, "tr-new").text == "6 new events ↓", "it says what is new")
    assert 1 in page.shown
    page.browser.find_element(By.ID, "tr-new").click()
    page.until(lambda: 130 in page.shown, "the end")
    writer("call")
    page.until(lambda: 132 in page.shown, "a call without a result")
    writer("answer")
    page.until(lambda: "slept at last" in page.row(132), "its result")
    writer("seal")
    page.until(lambda: not page.ask("document.getElementById('trace').hasAttribute('data-reading')"), "it has ended")
    assert page.errors() == []


@pytest.mark.parametrize("state", ["none", "empty"])
def test_without_events_the_page_says_what_to_do(page: Page, writer: Writer, state: str) -> None:
    page.browser.get(f"{page.site.url}/runs/{writer(state)}/trace/")
    told = page.ask("document.querySelector('main .empty').innerText")
    assert {"none": "trace_import", "empty": "0 bytes"}[state] in told


def test_a_phone_reads_filters_and_unfolds_with_a_finger(page: Page, telling: str) -> None:
    size = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        page.open(telling)
        page.until(lambda: page.row(4), "the events are there")
        assert page.ask("document.documentElement.scrollWidth") <= 390, page.wide
        page.browser.find_element(By.CSS_SELECTOR, "#e4 summary").click()
        page.until(lambda: page.ask("document.querySelector('#e4 .full') !== null"), "it unfolds")
        page.browser.find_element(By.CSS_SELECTOR, "#e4 .gut a").click()
        page.browser.find_element(By.XPATH, "//li[@id='e4']//button[text()='Raw record']").click()
        page.until(lambda: "tool_use" in page.row(4), "the raw record")
        assert page.ask("document.documentElement.scrollWidth") <= 390
        page.browser.find_element(By.CSS_SELECTOR, "[name=kind][value=agent]").click()
        page.until(lambda: page.tally.startswith("2 of "), "the agent's two messages")
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_however_much_unfolds_the_page_stays_small(page: Page, writer: Writer) -> None:
    page.open(writer("long", calls=300, colours=True))
    page.press("j")
    for _ in range(40):
        page.press("e")
        page.until(
            lambda: page.ask("document.querySelector('.ev.cur .full, .ev.cur:not(:has(details))')"), "it unfolds"
        )
        page.press("j")
        assert page.elements < MOST


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_event_200000_is_reached_by_link_by_key_and_by_scrolling(page: Page, writer: Writer) -> None:
    slug = writer("long", calls=100_000)
    page.open(slug, "?event=200000")
    page.until(lambda: page.current == 200000 and page.current in page.shown, "the event of the link")
    page.open(slug)
    page.scroll(1)
    page.until(lambda: 200000 in page.shown, "the end by scrolling")
    page.scroll(0.5)
    page.until(lambda: page.shown and abs(page.shown[0] - 100_000) < 2000, "the middle by scrolling")
    page.press("G")
    page.until(lambda: page.current >= 200000, "the end by key")
    page.press("g")
    page.until(lambda: page.current == 1, "the beginning by key")
    assert page.elements < MOST
