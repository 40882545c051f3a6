"""Labelling in Chromium: by keyboard, from the trace with its selection, and on a phone."""

from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tests.browser.test_trace import Writer
from tests.support.platform import Platform
from tests.support.waiting import LONG_S

pytestmark = pytest.mark.browser
PEOPLE = """
from django.contrib.auth.models import Permission, User
for name in ("ann", "bob"):
    user = User.objects.create_user(name, password="a long password")
    user.user_permissions.add(Permission.objects.get(codename="annotate"))
"""


@pytest.fixture(scope="module")
def slug(site: Platform) -> Iterator[str]:
    """A run with a transcript, and two researchers."""
    site.manage("shell", "-c", PEOPLE)
    writer = Writer(site)
    yield writer("telling")
    writer.close()


class Person:
    """Somebody at the browser."""

    def __init__(self, browser: webdriver.Chrome, site: Platform, name: str) -> None:
        self.browser, self.site = browser, site
        browser.delete_all_cookies()
        self.open("/login/?next=/annotate/")
        browser.find_element(By.NAME, "username").send_keys(name)
        browser.find_element(By.NAME, "password").send_keys("a long password", Keys.ENTER)
        self.until("location.pathname === '/annotate/'")

    def open(self, path: str) -> None:
        self.browser.get("about:blank")
        self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        self.browser.get(self.site.url + path)

    def ask(self, script: str) -> Any:
        return self.browser.execute_script(f"return {script}")

    def until(self, script: str) -> None:
        WebDriverWait(self.browser, LONG_S, poll_frequency=0.1).until(lambda _: self.ask(script), script)

    def keys(self, *keys: str) -> None:
        self.browser.switch_to.active_element.send_keys(*keys)

    def calm(self) -> None:
        """Nothing was complained about: no script failed, no policy was broken."""
        told = self.browser.get_log("browser")  # type: ignore[no-untyped-call]
        assert [entry["message"] for entry in told if "favicon" not in entry["message"]] == []


def test_label_by_keyboard_submit_and_see_the_other(browser: webdriver.Chrome, site: Platform, slug: str) -> None:
    ann = Person(browser, site, "ann")
    ann.open(f"/runs/{slug}/annotate/")
    ann.until("document.querySelector('#annotate') && document.readyState === 'complete'")
    browser.find_element(By.TAG_NAME, "body").send_keys("2")
    ann.until("document.querySelector('[name=type]:checked')?.value === '2'")
    ann.keys("n", "Rewards 1 to 5", Keys.CONTROL + Keys.ENTER)
    ann.until("document.querySelector('.labels .said')")
    assert ann.ask("document.querySelector('.labels .said').textContent") == "Rewards 1 to 5"
    assert "Hidden until you submit" in ann.ask("document.body.innerText")
    ann.calm()
    browser.find_element(By.CSS_SELECTOR, "form[action$='/submit/'] button").click()
    ann.until("document.querySelector('.notice.up')")

    bob = Person(browser, site, "bob")
    bob.open(f"/runs/{slug}/trace/?event=3")
    bob.until("document.querySelector('#tr-events .cur') && document.querySelector('#tr-out .outline')")
    bob.keys("J", "J", "3")
    values = "[...document.querySelectorAll('#annotate [name$=_seq]')].map((one) => one.value)"
    last = bob.ask("document.querySelector('#tr-events .cur').id.slice(1)")
    assert last > "3"
    assert bob.ask(values) == ["3", last, last]
    assert "Rewards 1 to 5" not in bob.ask("document.body.innerText")
    bob.keys("It collapsed here", Keys.CONTROL + Keys.ENTER)
    bob.until("document.querySelector('.notice.message')")
    assert bob.ask("location.search").endswith("event=3")
    bob.open(f"/runs/{slug}/annotate/")
    assert "Rewards 1 to 5" not in bob.ask("document.body.innerText")
    browser.find_element(By.CSS_SELECTOR, "form[action$='/submit/'] button").click()
    bob.until("document.body?.innerText.includes('Rewards 1 to 5')")
    assert "Training collapse / instability" in bob.ask("document.querySelector('.labels').innerText")
    bob.calm()


@pytest.mark.parametrize("path", ["/annotate/", "/agreement/", "/runs/{slug}/annotate/", "/runs/{slug}/trace/"])
def test_nothing_spills_over_on_a_phone(browser: webdriver.Chrome, site: Platform, slug: str, path: str) -> None:
    ann = Person(browser, site, "ann")
    try:
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
        )
        ann.open(path.format(slug=slug))
        assert ann.ask("document.documentElement.scrollWidth") <= 390
        ann.calm()
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
