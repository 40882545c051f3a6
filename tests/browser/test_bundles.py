"""Uploading in Chromium: chosen, dropped, paused, cut and resumed; the report that follows; moderation; a phone."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.support.bundling import bundle_bytes, workspace_files, zipped
from tests.support.platform import Platform
from tests.support.waiting import LONG_S

pytestmark = pytest.mark.browser
PEOPLE = """
from django.contrib.auth.models import Group, Permission, User
for name in ("ada", "mod"):
    user = User.objects.create_user(name, password="correct-horse-9")
    user.groups.add(Group.objects.get(name="submitter"))
User.objects.get(username="mod").user_permissions.add(Permission.objects.get(codename="moderate_run"))
"""
DROP = """
const [target, name, size] = arguments, moved = new DataTransfer();
const bytes = new Uint8Array(size); crypto.getRandomValues(bytes.subarray(0, Math.min(size, 65536)));
moved.items.add(new File([bytes], name));
for (const kind of ["dragenter", "dragover", "drop"])
  target.dispatchEvent(new DragEvent(kind, { dataTransfer: moved, bubbles: true, cancelable: true }));
"""
Uploading = Callable[[Path], None]


@pytest.fixture(scope="module")
def working(site: Platform) -> Iterator[Platform]:
    """With people and a worker."""
    site.manage("shell", "-c", PEOPLE)
    site.start_worker()
    yield site
    site.kill("worker")


def sign_in(browser: webdriver.Chrome, site: Platform, name: str) -> None:
    browser.get(f"{site.url}/login/")
    browser.delete_all_cookies()
    browser.get(f"{site.url}/login/?next=/bundles/")
    browser.find_element(By.NAME, "username").send_keys(name)
    browser.find_element(By.NAME, "password").send_keys("correct-horse-9")
    browser.find_element(By.CSS_SELECTOR, "main button[type=submit]").click()
    until(browser, lambda: browser.current_url == f"{site.url}/bundles/")


def until(browser: webdriver.Chrome, true: Callable[[], object], seconds: float = LONG_S) -> None:
    WebDriverWait(browser, seconds, poll_frequency=0.1).until(lambda _: true())


def text(browser: webdriver.Chrome, selector: str) -> str:
    """Of the first such element, read in the page: the report is renewed while it is looked at."""
    script = "return document.querySelector(arguments[0])?.innerText ?? ''"
    return str(browser.execute_script(script, selector))


def choose(browser: webdriver.Chrome, site: Platform, path: Path, **fields: str) -> None:
    browser.get(f"{site.url}/bundles/new")
    if fields:
        browser.find_element(By.CSS_SELECTOR, ".stated > summary").click()
    for name, value in fields.items():
        browser.find_element(By.CSS_SELECTOR, f"[data-detail={name}]").send_keys(value)
    browser.find_element(By.ID, "file").send_keys(str(path))


def sent(browser: webdriver.Chrome) -> float:
    """The share of the file that has left."""
    return float(browser.execute_script("return document.getElementById('sending-bar').value"))


def report_ends(browser: webdriver.Chrome) -> str:
    """The report's title once the check is over, without a reload."""
    until(browser, lambda: "/bundles/b-" in browser.current_url)
    browser.execute_script("window.__same = true")
    until(browser, lambda: text(browser, "h1").startswith(("Check report", "Not opened")), 2 * LONG_S)
    assert browser.execute_script("return window.__same || performance.navigation.type === 0")
    return text(browser, "h1")


def problems(browser: webdriver.Chrome) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]  # type: ignore[no-untyped-call]


def test_an_archive_is_chosen_sent_and_checked(browser: webdriver.Chrome, working: Platform, tmp_path: Path) -> None:
    sign_in(browser, working, "ada")
    problems(browser)
    path = tmp_path / "run.zip"
    path.write_bytes(bundle_bytes())
    choose(browser, working, path, contact="Ada", licence="MIT", driver="claude-opus-4-6")
    assert report_ends(browser).startswith("Check report: no errors")
    facts = text(browser, "aside .pairs")
    assert "Ada" in facts
    assert "MIT" in facts
    assert "70.50" in text(browser, "table.scores")
    assert problems(browser) == []


def test_a_dropped_archive_that_is_none_is_refused_with_its_reason(
    browser: webdriver.Chrome, working: Platform
) -> None:
    sign_in(browser, working, "ada")
    browser.get(f"{working.url}/bundles/new")
    browser.execute_script(DROP, browser.find_element(By.ID, "upload"), "odd.zip", 3000)
    assert report_ends(browser) == "Not opened: the archive is refused"
    assert "archive" in text(browser, ".notice.down")
    browser.get(f"{working.url}/bundles/new")
    browser.execute_script(DROP, browser.find_element(By.ID, "upload"), "run.exe", 3000)
    assert "must end in" in text(browser, "#problem")


def test_an_upload_that_is_cut_goes_on_when_the_file_is_chosen_again(
    browser: webdriver.Chrome, working: Platform, tmp_path: Path
) -> None:
    sign_in(browser, working, "ada")
    path = tmp_path / "large.zip"
    noise = random.Random(4).randbytes(40_000_000)
    path.write_bytes(zipped(workspace_files((61.0, 62.5)) | {"gsm8k/20260310T120000_claude/reports/noise.bin": noise}))
    network = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2_500_000}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", network)
    try:
        choose(browser, working, path)
        # The first piece, two fifths of the file, has arrived; the second will take longer than anybody waits.
        until(browser, lambda: sent(browser) > 0.45)
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", network | {"uploadThroughput": 100_000})
        assert "MB" in text(browser, "#sending-told")
        browser.get(f"{working.url}/bundles/")  # leaves in the middle
    finally:
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", network | {"uploadThroughput": -1})
    held = next((working.data / "bundles" / "quarantine").iterdir())
    assert 1_000_000 < held.stat().st_size < path.stat().st_size
    choose(browser, working, path)
    assert "Check report" in report_ends(browser)
    kept = [each for each in (working.data / "bundles" / "kept").rglob("*.zip") if each.stat().st_size > 30_000_000]
    assert [each.read_bytes() == path.read_bytes() for each in kept] == [True]
    assert list((working.data / "bundles" / "quarantine").iterdir()) == []


def test_pausing_and_a_server_that_is_away(browser: webdriver.Chrome, working: Platform, tmp_path: Path) -> None:
    sign_in(browser, working, "ada")
    path = tmp_path / "paused.zip"
    path.write_bytes(random.Random(5).randbytes(30_000_000))
    network = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 2_500_000}
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", network)
    try:
        choose(browser, working, path)
        until(browser, lambda: sent(browser) > 0.1)
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", network | {"uploadThroughput": 100_000})
        browser.find_element(By.ID, "pause").click()
        assert "Paused" in text(browser, "#sending-told")
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", network | {"offline": True})
        browser.find_element(By.ID, "pause").click()
        until(browser, lambda: "Trying again" in text(browser, "#sending-told"))
    finally:
        browser.execute_cdp_cmd("Network.emulateNetworkConditions", network | {"uploadThroughput": -1})
    assert report_ends(browser) == "Not opened: the archive is refused"


def test_a_moderator_publishes_and_flags(browser: webdriver.Chrome, working: Platform, tmp_path: Path) -> None:
    sign_in(browser, working, "ada")
    path = tmp_path / "moderated.zip"
    path.write_bytes(bundle_bytes((61.0, 68.5)))
    choose(browser, working, path, contact="Ada", licence="MIT")
    report_ends(browser)
    place = browser.current_url
    sign_in(browser, working, "mod")
    browser.get(f"{working.url}/bundles/moderation/")
    assert "moderated.zip" in text(browser, "main")
    browser.get(place)
    browser.find_element(By.CSS_SELECTOR, "[name=reviewed][value='1']").click()
    until(browser, lambda: "Published." in text(browser, ".message"))
    assert text(browser, ".ladder .done:nth-child(3)").startswith("Reviewed")
    browser.find_element(By.XPATH, "//summary[text()='Flag']").click()
    form = browser.find_element(By.XPATH, "//form[.//input[@value='flag']]")
    form.find_element(By.NAME, "reason").send_keys("Trained on held-out items.")
    form.find_element(By.TAG_NAME, "button").click()
    until(browser, lambda: "Trained on held-out items." in text(browser, "main"))
    browser.get(f"{working.url}/runs/")
    until(browser, lambda: "flagged" in text(browser, "main"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(browser: webdriver.Chrome, working: Platform, scheme: str) -> None:
    sign_in(browser, working, "mod")
    browser.get(f"{working.url}/bundles/moderation/?list=published")
    place = browser.find_element(By.CSS_SELECTOR, "table a").get_attribute("href") or ""
    slug = place.rstrip("/").rsplit("/", 1)[1]
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        pages = ("bundles/", "bundles/new", "bundles/moderation/", "notifications/")
        for path in (*pages, f"bundles/{slug}/", f"bundles/{slug}/similar/"):
            browser.get(f"{working.url}/{path}")
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 390, path
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_real_archives_through_the_browser(
    browser: webdriver.Chrome, working: Platform, tmp_path: Path, shared_data: Path
) -> None:
    """The public samples, zipped as they are."""
    sign_in(browser, working, "ada")
    folders = {"workspace.zip": "autorl_workspace", "posttrainbench.zip": "posttrainbench"}
    titles = {}
    for name, folder in folders.items():
        top = shared_data / "bundles" / folder
        path = tmp_path / name
        path.write_bytes(zipped({str(p.relative_to(top)): p.read_bytes() for p in top.rglob("*") if p.is_file()}))
        choose(browser, working, path)
        titles[name] = report_ends(browser)
    assert titles["workspace.zip"] == "Check report: 2 errors to mend"
    assert titles["posttrainbench.zip"].startswith("Check report: no errors")
    browser.get(f"{working.url}/bundles/")
    until(browser, lambda: text(browser, "main").count("posttrainbench.zip") == 4)
