"""How fast a transcript is read, stored and searched, beside plain `json.loads` of each of its lines in the same run.

    AGENT2_DATABASE_URL=postgresql://… python -m perf.bench_traces [--events 20000] [--mb 200] [FILE]

Without FILE a transcript in Claude Code's format is made. Times are processor time (other work on the machine does not
count) and wall time; the database is a fresh test database of the configured server.
"""

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("AGENT2_DATA_DIR", tempfile.mkdtemp(prefix="agent2-perf-"))
WORDS = ("loss", "reward", "policy", "checkpoint", "gradient", "sampling", "answer", "baseline", "rollout", "batch")
NEEDLES = {
    "rare": "needle",
    "common": "loss",
    "absent": "no such text",
    "absent, its parts everywhere": "step loss reward policy",
    "two letters": "zq",
}


def made(path: Path, events: int, megabytes: float) -> None:
    """`events` lines: a call, its result, and so on; every hundredth result is large."""
    rng = random.Random(7)
    size = int(megabytes * 1e6 / max(1, events // 2)) - 700
    shared: dict[str, Any] = {"session_id": "s", "parent_tool_use_id": None}
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"type": "system", "subtype": "init", "model": "m", "tools": [], **shared}) + "\n")
        for n in range(events // 2):
            block: dict[str, Any] = {"type": "tool_use", "id": f"c{n}", "name": "Bash", "input": {"n": n}}
            usage = {"input_tokens": 8, "cache_read_input_tokens": 20_000, "output_tokens": 90}
            message = {"id": f"m{n}", "role": "assistant", "model": "m", "content": [block], "usage": usage}
            file.write(json.dumps({"type": "assistant", "message": message, **shared}) + "\n")
            wanted = max(50, size // 2 if n % 100 else size * 50)
            lines, length = [], 0
            while length < wanted:
                lines.append(f"step {rng.randrange(9999)} {rng.choice(WORDS)} {rng.choice(WORDS)}={rng.random():.5f} ✓")
                length += len(lines[-1]) + 1
            text = ("NEEDLE" if n == events // 2 * 9 // 10 else "") + "\n".join(lines)
            block = {"type": "tool_result", "tool_use_id": f"c{n}", "content": text, "is_error": False}
            file.write(json.dumps({"type": "user", "message": {"role": "user", "content": [block]}, **shared}) + "\n")


@contextmanager
def fresh_database() -> Iterator[None]:
    import django

    django.setup()
    from django.test.utils import setup_databases, teardown_databases

    held = setup_databases(verbosity=0, interactive=False, serialized_aliases=set())
    try:
        yield
    finally:
        teardown_databases(held, verbosity=0)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it answers, wall seconds, processor seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def parse_only(path: Path) -> int:
    count = 0
    with path.open("rb") as file:
        for line in file:
            json.loads(line)
            count += 1
    return count


def measure(path: Path) -> None:
    from tests.support.rows import run_row
    from traces.selectors import around, page, search
    from traces.services.ingest import trace_import

    megabytes = path.stat().st_size / 1e6
    run = run_row()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    trace, wall, cpu = timed(lambda: trace_import(run, path))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines, _, plain = timed(lambda: parse_only(path))
    stored = sum(file.stat().st_size for file in trace.folder.iterdir()) / 1e6
    print(
        f"{megabytes:.0f} MB, {lines} lines, {trace.event_count} events into {stored:.0f} MB of files and the database"
    )
    for kind, seconds in (("processor", cpu), ("wall", wall)):
        rates = f"{megabytes / seconds:7.1f} MB/s  {trace.event_count / seconds:8.0f} events/s"
        print(f"ingest     {rates} of {kind} time ({seconds:.1f} s)")
    print(f"json.loads {megabytes / plain:7.1f} MB/s of processor time; ingest takes {cpu / plain:.1f} times as long")
    print(f"memory     {peak:7.0f} MB at most, {before:.0f} MB before")
    for name, needle in NEEDLES.items():
        hits, wall, _ = timed(partial(search, trace, needle))
        print(f"search     {1000 * wall:7.1f} ms  {name}: {len(hits.hits)} hits{', more' if hits.more else ''}")
    _, wall, _ = timed(lambda: around(trace, line=trace.line_count * 9 // 10))
    print(f"around     {1000 * wall:7.1f} ms  a line near the end")
    _, wall, _ = timed(lambda: page(trace, after_seq=trace.event_count // 2, kinds=["tool_call"]))
    print(f"page       {1000 * wall:7.1f} ms  100 calls from the middle")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--mb", type=float, default=200.0)
    options = parser.parse_args(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        path = options.file or Path(folder) / "transcript.jsonl"
        if options.file is None:
            made(path, options.events, options.mb)
        with fresh_database():
            measure(path)


if __name__ == "__main__":
    main()
