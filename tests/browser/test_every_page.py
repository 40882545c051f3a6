"""Every page that is not tried elsewhere, as the people who see it: axe in a wide light and a narrow dark window."""

from collections.abc import Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from tests.browser.conftest import served
from tests.browser.test_live_run import errors
from tests.browser.test_public_pages import EVERY, sized
from tests.support.axe import violations
from tests.support.platform import Platform
from tests.support.waiting import until

pytestmark = pytest.mark.browser
__all__ = ["sized"]
PASSWORD = "correct-horse-9"
FILL = f"""
import pathlib, tempfile
from django.contrib.auth.models import Group, User
from benchmark.models import Run
from benchmark.services.audit import audit_record
from tests.browser.sample_runs import busy_run, many
from tests.support.transcripts import Script
from traces.services.ingest import trace_import
chief = User.objects.create_user("chief", password="{PASSWORD}")
chief.groups.set(Group.objects.filter(name="admin"))
many()
run = busy_run()
script = Script()
for step in range(30):
    script.say(f"step {{step}}")
path = pathlib.Path(tempfile.mkdtemp()) / "transcript.jsonl"
path.write_bytes(script.data)
trace_import(run, path)
audit_record(actor=chief, action="run.cancel", subject=run)
first, second = Run.objects.filter(origin="local", submission_count__gt=0).values_list("slug", flat=True)[:2]
print("slugs", run.slug, first, second)
"""
HIDDEN = """
return [...document.querySelectorAll(".site nav [aria-current], .tabs [aria-current]")].filter((link) => {
  const words = document.createRange();
  words.selectNodeContents(link);
  const own = words.getBoundingClientRect(), bar = link.parentElement.getBoundingClientRect();
  return own.left < bar.left - 1 || own.right > bar.right + 1;
}).map((link) => link.textContent);
"""
"""The links to the open page whose words their scrolling bar does not show."""
ANALYSES = (
    *("modes", "scaling", "improvement", "switches", "workspaces", "sensitivity"),
    *("rl-audit", "behaviour", "adoption", "walkthroughs", "routes", "failures"),
)
PAGES = {
    **{f"analysis {name}": f"/analyses/{name}/?origin=published" for name in ANALYSES},
    "analyses": "/analyses/",
    "analysis of runs here": "/analyses/scaling/",
    "compare": "/compare?runs={first},{second}",
    "compare nothing": "/compare",
    "run": "/runs/{run}/",
    **{
        f"run {tab}": f"/runs/{{run}}/{tab}/"
        for tab in ("curve", "submissions", "routes", "artifacts", "integrity", "configuration", "trace")
    },
    "run annotate": "/runs/{run}/annotate/",
    "annotate": "/annotate/",
    "agreement": "/agreement/",
    "start a run": "/runs/new",
    "queue": "/queue/",
    "account": "/account/",
    "password": "/account/password/",
    "accounts": "/accounts/",
    "audit": "/audit/",
    "API": "/api/v1/",
    "uploads": "/bundles/",
    "upload": "/bundles/new",
    "moderation": "/bundles/moderation/",
    "notices": "/notifications/",
}


@pytest.fixture(scope="module")
def inhabited(
    browser: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Platform, dict[str, str]]]:
    """A platform with runs of every kind, and the ids of three of them."""
    platform = Platform(tmp_path_factory.mktemp("inhabited"))
    platform.manage("migrate", "-v0")
    platform.manage("load_published", "-v0")
    told = platform.manage("shell", "-v0", "-c", FILL).split("slugs ")[1].split()
    with served(platform, browser):
        yield platform, dict(zip(("run", "first", "second"), told, strict=True))


@pytest.fixture(scope="module")
def chief(browser: webdriver.Chrome, inhabited: tuple[Platform, dict[str, str]]) -> Iterator[None]:
    """Somebody with every role is signed in."""
    browser.get(f"{inhabited[0].url}/login/")
    browser.find_element(By.NAME, "username").send_keys("chief")
    browser.find_element(By.NAME, "password").send_keys(PASSWORD)
    browser.find_element(By.CSS_SELECTOR, "main form button").click()
    until(lambda: "/login/" not in browser.current_url, "the sign-in")
    yield
    browser.delete_all_cookies()


@pytest.mark.parametrize("sized", [EVERY[0], EVERY[-1]], indirect=True)
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
@pytest.mark.usefixtures("chief")
def test_axe_finds_nothing_and_nothing_sticks_out(
    path: str, sized: webdriver.Chrome, inhabited: tuple[Platform, dict[str, str]]
) -> None:
    platform, slugs = inhabited
    sized.get(platform.url + path.format(**slugs))
    assert "404" not in sized.title
    assert violations(sized) == []
    beyond = sized.execute_script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert beyond <= 0
    assert sized.execute_script(HIDDEN) == []
    assert [text for text in errors(sized) if "Security Policy" in text or "Uncaught" in text] == []


@pytest.mark.usefixtures("chief")
def test_an_operator_starts_watches_and_cancels_a_run(
    browser: webdriver.Chrome, inhabited: tuple[Platform, dict[str, str]]
) -> None:
    platform, _ = inhabited
    browser.get(f"{platform.url}/runs/new")
    until(lambda: browser.find_elements(By.CSS_SELECTOR, "[name=agent] option[value=example]"), "agents are listed")
    for name, value in {"agent": "example", "task": "arithmetic"}.items():
        Select(browser.find_element(By.NAME, name)).select_by_value(value)
    for name, value in {"base_model": "tiny", "budget": "5m"}.items():
        browser.find_element(By.NAME, name).clear()
        browser.find_element(By.NAME, name).send_keys(value)
    browser.find_element(By.CSS_SELECTOR, "#start [name=check]").click()
    until(lambda: "worker hours, no GPU: 1 ×" in main_text(browser), "the cost is told")
    browser.find_element(By.CSS_SELECTOR, "#start .btn.primary").click()
    until(lambda: "/runs/new" not in browser.current_url, "the run's page opens")
    assert "queued" in main_text(browser)
    slug = browser.current_url.rstrip("/").rsplit("/", 1)[1]
    browser.get(f"{platform.url}/queue/")
    assert slug in browser.page_source
    browser.get(f"{platform.url}/runs/{slug}/")
    # In one step: the page renews itself once it is live.
    browser.execute_script(
        "window.confirm = () => true; document.querySelectorAll('details').forEach(d => d.open = true);"
        "document.querySelector(\"form[action$='/cancel/'] button\").click()"
    )
    until(lambda: "cancelled" in main_text(browser), "it is cancelled")


def main_text(browser: webdriver.Chrome) -> str:
    return str(browser.execute_script("return document.querySelector('main')?.innerText ?? ''"))
