"""Many runs one after the other for a long time, with a random kill now and then, and what grows meanwhile.

`python -m tests.support.soaking [--sandbox docker] [--minutes 25] [--seed 1]` prints how each figure grew, how
runs ended, and what was wrong or left at the end. Web server and default worker are never killed, so that their growth
shows; a process that ends without being killed is wrong, and is started again as Docker would.
"""

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import psutil

from tests.support.killing import SETTINGS
from tests.support.pools import ENDS, Scene, scene

DRIVERS = ("work:10", "work:25", "submit:3", "leave:2", "nowait:3", "parallel:3", "same:2", "crash")
KILLED = ("worker-agents", "worker-grading", "beat", "redis", "postgres", "inside")
AT_ONCE, SAMPLE_S, KILL_S = 4, 10.0, (25.0, 60.0)
Series = list[tuple[float, float]]


class Soak:
    """Runs, kills and samples of one soak."""

    def __init__(self, at: Scene, seed: int) -> None:
        self.at, self.random = at, random.Random(seed)
        self.samples: dict[str, Series] = defaultdict(list)
        self.slugs: list[str] = []
        self.open: set[str] = set()
        self.hit: set[str] = set()
        self.wrong: list[str] = []
        self.kills: Counter[str] = Counter()
        self.began = time.monotonic()

    def go(self, seconds: float) -> None:
        sample = kill = 0.0
        while (now := time.monotonic() - self.began) < seconds:
            if now >= sample:
                self.sample()
                sample = now + SAMPLE_S
            if now >= kill and kill:
                self.kill()
            kill = now + self.random.uniform(*KILL_S) if now >= kill else kill
            self._runs()
            self._revive()
            time.sleep(1)

    def _runs(self) -> None:
        rows = self.at.query("SELECT slug FROM benchmark_run WHERE state = ANY(%s)", list(ENDS))
        self.open -= {str(slug) for (slug,) in rows}
        while len(self.open) < AT_ONCE:
            slug = self.at.platform.run(self.at.base, self.random.choice(DRIVERS), budget=90)
            self.slugs.append(slug)
            self.open.add(slug)

    def _revive(self) -> None:
        """Start what ended by itself, and keep what it said last."""
        for name, process in list(self.at.platform.processes().items()):
            if (code := process.poll()) is not None:
                log = self.at.platform.data / f"{'server' if name == 'web' else name}.log"
                said = log.read_text(errors="replace")[-3000:]
                self.wrong.append(f"{name} ended by itself with {code} after {dict(self.kills)}:\n{said}\n")
                self.at.platform.start_pool(name)

    def kill(self) -> None:
        what = self.random.choice(KILLED)
        self.kills[what] += 1
        if what in ("redis", "postgres"):
            service = self.at.service(what)
            service.kill()
            time.sleep(self.random.uniform(0.5, 20))
            service.start()
            self.at.services.wait()
        elif what == "inside":
            for name in self.random.sample(names := self.at.sandboxes(), min(1, len(names))):
                self.hit.add(name.removeprefix(f"{self.at.prefix}run-"))
                for process in self.at.inside(name):
                    with suppress(psutil.NoSuchProcess):
                        process.kill()
        else:
            self.at.platform.kill_pool(what, self.random.choice([signal.SIGKILL, signal.SIGTERM]))
            time.sleep(self.random.uniform(0.5, 5))
            self.at.platform.start_pool(what)

    def sample(self) -> None:
        now = time.monotonic() - self.began
        found: dict[str, float] = {"runs ended": len(self.slugs) - len(self.open)}
        for name, process in self.at.platform.processes().items():
            with suppress(psutil.NoSuchProcess):
                shown = psutil.Process(process.pid)
                key = f"{name} {process.pid}"
                found[f"{key} memory, MiB"] = shown.memory_info().rss / 2**20
                found[f"{key} descriptors"] = shown.num_fds()
                found[f"{key} threads"] = shown.num_threads()
        ((connections,),) = self.at.query("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")
        found["database connections"] = float(str(connections))
        found["sandboxes"] = len(self.at.sandboxes())
        found["sockets of gateways"] = len(list((self.at.platform.data / "runs").glob("*/gateway/gateway.sock")))
        found["folders in /tmp of ours"] = len(list(Path(tempfile.gettempdir()).glob(f"{self.at.prefix}*")))
        for key, value in found.items():
            self.samples[key].append((now, value))

    def finish(self) -> list[str]:
        """Wait for every run; what is wrong."""
        with suppress(AssertionError):
            self.at.platform.until(
                lambda: all(self.at.state(slug) in ENDS for slug in self.slugs), 240, "every run ends"
            )
        self._revive()
        wrong = self.wrong
        wrong += [f"{slug} is {state}" for slug in self.slugs if (state := self.at.state(slug)) not in ENDS]
        deadline = time.monotonic() + 100
        while (left := self.at.sandboxes()) and time.monotonic() < deadline:
            time.sleep(1)
        self.sample()
        for sql, what in (
            ("SELECT count(*) FROM grading_submission WHERE ended_at IS NULL", "submissions have not ended"),
            ("SELECT count(*) FROM grading_evaluation WHERE state IN ('running', 'queued')", "evaluations wait"),
            ("SELECT count(*) FROM benchmark_run WHERE fault_code = 'internal_fault'", "runs failed by our fault"),
            (GAPS, "runs have gaps in their events"),
        ):
            ((count,),) = self.at.query(sql)
            wrong += [f"{count} {what}"] if count else []
        failed = self.at.query("SELECT id, driver FROM benchmark_run WHERE fault_code = 'agent_failed'")
        odd = [f"run {pk} ({driver})" for pk, driver in failed if driver != "crash" and str(pk) not in self.hit]
        wrong += [f"{run} ended as agent_failed although nobody killed its agent" for run in odd]
        sockets = (self.at.platform.data / "runs").glob("*/gateway/gateway.sock")
        return wrong + [f"left: {each}" for each in (*left, *sockets)]


GAPS = (
    "SELECT count(*) FROM (SELECT run_id FROM benchmark_runevent GROUP BY run_id "
    "HAVING max(seq) <> count(*) OR min(seq) <> 1) AS broken"
)


def slope(series: Series) -> float:
    """By least squares, in units an hour; the first two minutes, in which everything is loaded, left out."""
    points = [(at / 3600, value) for at, value in series if at - series[0][0] > 120]
    if len(points) < 6:
        return float("nan")
    mean_at = sum(at for at, _ in points) / len(points)
    mean = sum(value for _, value in points) / len(points)
    spread = sum((at - mean_at) ** 2 for at, _ in points)
    return sum((at - mean_at) * (value - mean) for at, value in points) / spread


def table(samples: Mapping[str, Series]) -> str:
    lines = ["| what | minutes | first | last | most | an hour |", "|---" * 6 + "|"]
    for key, series in sorted(samples.items()):
        values = [value for _, value in series]
        minutes = (series[-1][0] - series[0][0]) / 60
        if minutes > 4:
            told = (f"{minutes:.0f}", f"{values[0]:.0f}", f"{values[-1]:.0f}", f"{max(values):.0f}")
            lines.append(f"| {key} | " + " | ".join(told) + f" | {slope(series):+.1f} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sandbox", default="docker", choices=["bubblewrap", "docker"])
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with (
        tempfile.TemporaryDirectory(prefix="agent2-soak-") as made,
        scene(Path(made), given.sandbox, **(SETTINGS | {"AGENT2_TEST_GRADING_S": "2"})) as at,
    ):
        soak = Soak(at, given.seed)
        soak.go(given.minutes * 60)
        wrong = soak.finish()
        ends = Counter(" ".join(map(str, row)).strip() for row in at.query(ENDED_AS))
    told = {"kills": dict(soak.kills), "runs": dict(sorted(ends.items())), "wrong": wrong or "nothing"}
    print(table(soak.samples), *(f"{name}: {value}" for name, value in told.items()), sep="\n")
    return int(bool(wrong))


ENDED_AS = "SELECT driver, state, fault_code FROM benchmark_run"

if __name__ == "__main__":
    sys.exit(main())
