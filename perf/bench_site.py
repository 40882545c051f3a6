"""What pages and the API cost over many runs (perf.load_site fills the database).

    AGENT2_DATABASE_URL=postgresql://… python -m perf.bench_site [--times 60] [--mlflow PYTHON]

Every page: milliseconds from request to answer over one kept-alive connection, and its queries; the leaderboard also
right after one of its scores has changed, when it is not yet kept. The API: over fresh connections and a kept-alive
one. A repeated request with its ETag. With `--mlflow`, an interpreter that has MLflow, its `search_runs` over the same
runs is asked in turn with ours, fresh connections both.
"""

import argparse
import contextlib
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil

from tests.support.platform import Platform

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
HEADERS = {"Accept-Encoding": "gzip"}


@contextlib.contextmanager
def server() -> Iterator[Platform]:
    """The web server alone, on the database of the environment."""
    with tempfile.TemporaryDirectory() as folder:
        platform = Platform(Path(folder), {"AGENT2_DATABASE_URL": os.environ["AGENT2_DATABASE_URL"]})
        platform.manage("migrate", "-v0")
        platform.start_server()
        try:
            yield platform
        finally:
            platform.stop()


def addresses() -> tuple[dict[str, str], dict[str, str]]:
    """Pages and API calls by name, for the runs that are there."""
    from benchmark.models import Run

    longest = Run.objects.order_by("-submission_count").values_list("slug", flat=True)[0]
    others = Run.objects.filter(task="alfworld").order_by("-id").values_list("slug", flat=True)[:8]
    pages = {
        "leaderboard": "/",
        "leaderboard, two filters": "/?agent=codex&level=L3",
        "leaderboard, search and sort": "/?q=gpt-5.4&sort=-alfworld",
        "task page": "/tasks/alfworld/",
        "list of runs": "/runs/",
        "list of runs, filtered": "/runs/?task=webshop&agent=opencode&mode=free",
        "run of 1,000 submissions": f"/runs/{longest}/",
        "run of about 50": f"/runs/{others[0]}/",
        "compare eight": f"/compare?runs={','.join(others)}",
    }
    api = {
        "filter and order": "/api/v1/runs/?task=alfworld&agent=codex&order=-score&limit=50",
        "filter on score": "/api/v1/runs/?task=gsm8k&score_min=60&order=-improvement&limit=50",
        "newest": "/api/v1/runs/",
        "1,000 points of one run": f"/api/v1/runs/{longest}/points/",
    }
    return pages, api


def queries(address: str) -> int:
    """How many queries an address takes, in this process."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client(SERVER_NAME="127.0.0.1")
    client.get(address)
    with CaptureQueriesContext(connection) as seen:
        status = client.get(address).status_code
    assert status == 200, f"{address} answers {status}"
    return len(seen)


def timed(ask: Callable[[], httpx.Response], times: int) -> list[float]:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        answer = ask()
        taken.append(1000 * (time.perf_counter() - began))
        assert answer.status_code in (200, 304), answer.text[:500]
    return sorted(taken)


def told(name: str, taken: list[float], more: str = "") -> None:
    p95 = taken[int(0.95 * len(taken))]
    print(f"  {name:38} p50 {statistics.median(taken):7.1f} ms   p95 {p95:7.1f} ms   {more}", flush=True)


def fresh(url: str) -> httpx.Response:
    return httpx.get(url, headers=HEADERS, timeout=60, verify=False)  # plain HTTP only


def pages_measure(platform: Platform, pages: dict[str, str], times: int) -> None:
    print("pages, kept-alive")
    with httpx.Client(verify=False, timeout=60, headers=HEADERS) as client:
        for name, address in pages.items():
            url = platform.url + address
            size = len(client.get(url).content)
            wire = int(client.get(url).headers.get("content-length", size))
            more = f"{queries(address)} queries, {size // 1024} KiB, {wire // 1024} on the wire"
            told(name, timed(lambda url=url: client.get(url), times), more)  # type: ignore[misc]


def changed_measure(platform: Platform, times: int) -> None:
    """A run's score is another one before every request, and the old one in the end."""
    from grading.models import TaskStanding

    row = TaskStanding.objects.filter(best__isnull=False)[0]
    with httpx.Client(verify=False, timeout=60, headers=HEADERS) as client:

        def ask() -> float:
            TaskStanding.objects.filter(pk=row.pk).update(best=random.uniform(1, 99))
            began = time.perf_counter()
            assert client.get(platform.url).status_code == 200
            return 1000 * (time.perf_counter() - began)

        told("leaderboard, a score just changed", sorted(ask() for _ in range(times)))
    TaskStanding.objects.filter(pk=row.pk).update(best=row.best)


def api_measure(platform: Platform, api: dict[str, str], times: int) -> None:
    print("API")
    with httpx.Client(verify=False, timeout=60, headers=HEADERS) as client:
        for name, address in api.items():
            url = platform.url + address
            count = queries(address)
            told(f"{name}, fresh connections", timed(lambda url=url: fresh(url), times), f"{count} queries")  # type: ignore[misc]
            told(f"{name}, kept-alive", timed(lambda url=url: client.get(url), times))  # type: ignore[misc]
            etag = client.get(url).headers.get("etag")
            if etag:
                again = {"If-None-Match": etag}
                told(f"{name}, its ETag", timed(lambda u=url, a=again: client.get(u, headers=a), times))  # type: ignore[misc]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=60)
    parser.add_argument("--mlflow", help="an interpreter that has MLflow")
    options = parser.parse_args()
    with server() as platform:
        os.environ["AGENT2_DATA_DIR"] = str(platform.data)
        import django

        django.setup()
        pages, api = addresses()
        pages_measure(platform, pages, options.times)
        changed_measure(platform, options.times)
        api_measure(platform, api, options.times)
        if options.mlflow:
            from perf.site.mlflow_beside import beside

            beside(options.mlflow, platform.url, options.times)
        assert platform.server is not None
        print(f"  web process {psutil.Process(platform.server.pid).memory_info().rss / 1024**2:.0f} MiB")


if __name__ == "__main__":
    main()
