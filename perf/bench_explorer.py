"""What the trace explorer costs on a long transcript, in a fresh Chromium for each opening (cold cache).

First row and deep link: seconds, bytes over the wire, longest task of the main thread, elements. Search: seconds.
`python -m perf.bench_explorer` makes 10,000 events of 100 MB; or name a transcript. With `--inspect-log` the same is
measured of `inspect view` on its own log of the same content.
"""

import argparse
import contextlib
import json
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

from tests.browser.conftest import FLAGS
from tests.support.platform import Platform, free_port
from tests.support.transcripts import Script

NEEDLE = "needle-in-the-hay"
WATCH = """
window.__tasks = [];
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.__tasks.push(one.duration); })
  .observe({ type: "longtask", buffered: true });
window.__seen = (text) => {
  const walk = document.createTreeWalker(document.body ?? document.documentElement, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const at = walk.currentNode.data.indexOf(text);
    if (at < 0) continue;
    const range = new Range();
    range.setStart(walk.currentNode, at);
    range.setEnd(walk.currentNode, at + text.length);
    const { width, top, bottom } = range.getBoundingClientRect();
    if (width > 0 && bottom > 0 && top < innerHeight) return performance.now();
  }
  return 0;
};
const wire = () => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, one) => sum + one.transferSize, 0);
window.__state = () => ({ wire_kb: Math.round(wire() / 1000),
  longest_task_ms: Math.round(Math.max(0, ...window.__tasks)),
  elements: document.getElementsByTagName("*").length });
"""


def transcript(path: Path, events: int, megabytes: float) -> Path:
    """Calls with logs of very different lengths, one of five megabytes, one with the needle at nine tenths."""
    chance, calls = random.Random(7), events // 2
    sizes = [chance.lognormvariate(0, 1.6) for _ in range(calls)]
    long = min(5_000_000, int(megabytes * 2.5e5))
    per = (megabytes * 1e6 - long - calls * 700) / sum(sizes)
    script = Script()
    with path.open("wb") as file:
        for number, size in enumerate(sizes):
            length = long if number == calls // 3 else int(size * per)
            line = f"step {number} loss {chance.random():.4f} reward {chance.random():.4f} kl {chance.random():.5f}\n"
            needle = NEEDLE if number == calls * 9 // 10 else ""
            script.call(
                "Bash", {"command": f"python train.py --step {number}"}, needle + line * (length // len(line) + 1)
            )
            file.write(script.data)
            script.lines.clear()
    return path


class Chromium:
    """One fresh browser."""

    def __init__(self) -> None:
        options = Options()
        options.binary_location = shutil.which("chromium") or ""
        for flag in FLAGS:
            options.add_argument(flag)
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})

    def until(self, script: str, timeout: float = 120) -> float | None:
        """Seconds since the page's beginning until the script's value is true; None: never."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            with contextlib.suppress(Exception):
                if value := self.driver.execute_script(f"return {script}"):
                    return float(value) / 1000
            time.sleep(0.01)
        return None

    def see(self, text: str) -> float | None:
        """Until the text is laid out on the screen."""
        return self.until(f"window.__seen && window.__seen({json.dumps(text)})")

    def state(self) -> dict[str, Any]:
        return dict(self.driver.execute_script("return window.__state()"))

    def now(self) -> float:
        return float(self.driver.execute_script("return performance.now()")) / 1000


@contextlib.contextmanager
def chromium() -> Iterator[Chromium]:
    browser = Chromium()
    try:
        yield browser
    finally:
        browser.driver.quit()


def opened(url: str, sight: str) -> dict[str, Any]:
    """`sight`: text to wait for. State at the first sight of it, and at rest."""
    with chromium() as browser:
        browser.driver.get("about:blank")
        browser.driver.execute_script(f"location.href = {json.dumps(url)}")
        seen = browser.see(sight)
        first = browser.state()
        time.sleep(1.5)
        rest = browser.state()
    return {"s": seen, "wire_kb": first["wire_kb"], "rest": rest}


def searched(url: str, words: str, sight: str) -> dict[str, Any]:
    with chromium() as browser:
        browser.driver.get(url)
        browser.until("document.querySelector('#tr-out .outline') && performance.now()")
        field = browser.driver.find_element(By.ID, "tr-q")
        start = browser.now()
        field.send_keys(words)
        seen = browser.until(
            f"/^1 match/.test(document.getElementById('tr-count').textContent) && window.__seen({json.dumps(sight)})"
        )
        return {"s": seen and seen - start, "rest": browser.state()}


def repeated(times: int, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Median and worst of each number."""
    found = [measure() for _ in range(times)]
    seconds = [each["s"] for each in found if each["s"] is not None]
    told: dict[str, Any] = {"failed": len(found) - len(seconds)}
    if seconds:
        told |= {"median_s": round(statistics.median(seconds), 3), "worst_s": round(max(seconds), 3)}
    if "wire_kb" in found[0]:
        told["wire_kb"] = max(each["wire_kb"] for each in found)
    return told | {f"rest_{name}": max(each["rest"][name] for each in found) for name in found[0]["rest"]}


def explorer(path: Path, needle: str, first: str, times: int, folder: Path) -> None:
    platform = Platform(folder / "data")
    platform.manage("migrate", "-v0")
    start = time.perf_counter()
    told = platform.manage("trace_import", "--new", "--task", "arithmetic", "--base-model", "tiny", str(path))
    print(told.strip())
    events = int(told.split(" events")[0].rsplit(" ", 1)[1])
    seconds = time.perf_counter() - start
    say("import", {"s": round(seconds, 1), "mb": round(path.stat().st_size / 1e6), "events": events})
    platform.start_server()
    try:
        url = f"{platform.url}/runs/{told.split()[0]}/trace/"
        platform.http.get(url)  # the server's own first time
        say("first row", repeated(times, lambda: opened(url, first)))
        for share in (0.5, 0.9, 1.0):
            seq = int(events * share)
            say(f"link to event {seq}", repeated(times, lambda seq=seq: linked(url, seq)))  # type: ignore[misc]
        say("search", repeated(times, lambda: searched(url, needle, needle[:12])))
    finally:
        platform.stop()


def linked(url: str, seq: int) -> dict[str, Any]:
    """Until the event is the selected one and on the screen."""
    with chromium() as browser:
        browser.driver.get("about:blank")
        browser.driver.execute_script(f"location.href = {json.dumps(f'{url}?event={seq}')}")
        row = "document.querySelector('.ev.cur')"
        on = f"{row} && {row}.getBoundingClientRect().bottom > 0 && {row}.getBoundingClientRect().top < innerHeight"
        seen = browser.until(f"{on} && performance.now()")
        first = browser.state()
        time.sleep(1.5)
        return {"s": seen, "wire_kb": first["wire_kb"], "rest": browser.state()}


def inspect_view(command: str, log: Path, first: str, times: int, folder: Path) -> None:
    port = free_port()
    (folder / "logs").mkdir()
    name = f"2026-03-01T09-00-00+00-00_post-train_long{log.suffix}"
    (folder / "logs" / name).symlink_to(log.resolve())
    server = subprocess.Popen(
        [command, "view", "start", "--host", "127.0.0.1", "--port", str(port), "--log-dir", str(folder / "logs")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(8)
        url = f"http://127.0.0.1:{port}/#/logs/{quote(name)}/samples/sample/run/1/transcript"
        say("inspect view, first row", repeated(times, lambda: opened(url, first)))
    finally:
        server.terminate()
        server.wait(15)


def say(name: str, told: dict[str, Any]) -> None:
    print(f"{name}: {json.dumps(told)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("transcript", nargs="?", type=Path)
    parser.add_argument("--events", type=int, default=10_000)
    parser.add_argument("--mb", type=float, default=100.0)
    parser.add_argument("--needle", default=NEEDLE, help="words that one event alone holds")
    parser.add_argument("--first", default="train.py --step 0", help="words on the first screen")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--inspect", default="inspect", help="the inspect command")
    parser.add_argument("--inspect-log", type=Path, help="an Inspect log of the same content, sample `run`")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = options.transcript or transcript(folder / "transcript.jsonl", options.events, options.mb)
        explorer(path, options.needle, options.first, options.repeat, folder)
        if options.inspect_log:
            inspect_view(options.inspect, options.inspect_log, options.first, options.repeat, folder)


if __name__ == "__main__":
    main()
