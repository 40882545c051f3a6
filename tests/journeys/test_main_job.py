"""The loop that the platform exists for, as processes: submit, cancel, time-out, lost workers, a restarted server."""

import json
import re
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.platform import Platform
from tests.support.waiting import until

pytestmark = pytest.mark.bubblewrap


def log_of(platform: Platform, slug: str) -> str:
    return (platform.data / "runs" / slug / "agent.log").read_text()


def answers(platform: Platform, slug: str) -> list[dict[str, Any]]:
    """What the agent was told for each submission, in the order of arrival at the agent."""
    return [json.loads(m[1]) for m in re.finditer(r"^submitted \S+ \d+ (\{.*\})$", log_of(platform, slug), re.M)]


def states(platform: Platform, slug: str) -> list[str]:
    return [e["data"]["state"] for e in platform.get(slug, "events/") if e["kind"] == "run.state"]


def alive_in(platform: Platform, slug: str) -> list[str]:
    """Command lines of processes that hold the run's folder or were started for it."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if slug in line:
            found.append(line)
    return found


def test_submissions_are_graded_one_after_the_other(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "submit:3")
    run = platform.ended(slug)
    assert run["state"] == "finished"
    assert states(platform, slug) == ["queued", "preparing", "running", "finishing", "finished"]
    told = answers(platform, slug)
    assert [a["submission_id"] for a in told] == [1, 2, 3]
    assert all(a["state"] == "graded" and 0 <= a["score"] <= 100 for a in told)
    assert told[-1]["best"]["score"] == max(a["score"] for a in told) == run["best_score"]
    assert all(a["improvement"] == pytest.approx(a["score"] - run["baseline_score"]) for a in told)


def test_twenty_at_once_get_twenty_numbers_and_all_are_graded(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "parallel:20")
    platform.ended(slug)
    told = answers(platform, slug)
    assert sorted(a["submission_id"] for a in told) == list(range(1, 21))
    rows = platform.submissions(slug)
    assert [r["state"] for r in rows] == ["graded"] * 20
    moves = [e["data"] for e in platform.get(slug, "events/") if e["kind"] == "submission"]
    open_now: set[int] = set()
    for move in moves:
        if move["state"] == "grading":
            open_now.add(move["number"])
        elif move["state"] in ("graded", "rejected", "errored"):
            open_now.discard(move["number"])
        assert len(open_now) <= 1


def test_identical_content_returns_the_stored_verdict(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "same:3")
    platform.ended(slug)
    first, *others = answers(platform, slug)
    assert first["same_as"] == "" or first["same_as"].endswith("#1")
    assert {a["score"] for a in others} == {first["score"]}
    assert [a["same_as"] for a in others] == [first["same_as"] or "#1"] * 2


def test_without_waiting_the_answer_comes_at_once_and_the_status_url_tells(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "nowait:3")
    platform.ended(slug)
    told = answers(platform, slug)
    assert all(a["score"] is None and a["state"] in ("received", "queued", "grading") for a in told)
    assert all(a["status_url"].startswith("http://127.0.0.1:8900/grading/") for a in told)
    assert all(a["status_url"].endswith(f"/submissions/{a['submission_id']}") for a in told)
    assert [r["state"] for r in platform.submissions(slug)] == ["graded"] * 3


def test_the_budget_ends_everything_within_five_seconds(platform: Platform, base: Path) -> None:
    # A busy machine needs more to begin with, and may be late once.
    for budget in (6, 12, 24, 48):
        slug = platform.run(base, "hang", budget=budget)
        run = platform.ended(slug)
        used = _seconds(run["ended_at"]) - _seconds(run["started_at"])
        if used <= budget + 5 and "hanging" in _log_if_any(platform, slug):
            break
    assert run["state"] == "timed_out"
    assert budget <= used <= budget + 5
    assert "hanging" in log_of(platform, slug)
    assert _heart_stopped(platform, slug)
    until(lambda: alive_in(platform, slug) == [], "nothing of the run is alive")
    assert [r["state"] for r in platform.submissions(slug)] == ["graded"]


def test_cancel_ends_the_agent_and_keeps_what_was_graded(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "hang")
    platform.until(lambda: "hanging" in _log_if_any(platform, slug), 120, "the agent hangs")
    platform.manage("cancel", slug)
    run = platform.ended(slug)
    assert run["state"] == "cancelled"
    assert run["best_score"] is not None
    assert _heart_stopped(platform, slug)


def test_an_agent_that_fails_without_submitting_has_failed(platform: Platform, base: Path) -> None:
    run = platform.ended(platform.run(base, "crash"))
    assert (run["state"], run["fault_code"], run["exit_code"]) == ("failed", "agent_failed", 3)


def test_the_agent_sees_nothing_held_out_and_no_way_out(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "probe")
    platform.ended(slug)
    told = dict(re.findall(r"PROBE ([a-z_ ]+) ((?:ok|refused) .*)", log_of(platform, slug)))
    assert told["set_baseline"] == "ok 403"
    assert told["network"].startswith("refused")
    assert told["write instructions"].startswith("refused")
    assert told["write model"].startswith("refused")
    assert "held" not in told["files"]
    assert "AGENT2" not in told["environment"]
    assert "SECRET" not in told["environment"]


def test_a_worker_killed_with_its_agent_leaves_a_typed_fault(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "hang")
    platform.until(lambda: "hanging" in _log_if_any(platform, slug), 120, "the agent hangs")
    platform.kill("worker")
    platform.start_worker()
    run = platform.ended(slug)
    assert (run["state"], run["fault_code"]) == ("failed", "worker_lost")
    assert run["best_score"] is not None
    assert _heart_stopped(platform, slug)


def test_a_server_restarted_during_submit_loses_nothing(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "submit:6")
    platform.until(lambda: "submitted" in _log_if_any(platform, slug), 120, "the first submission")
    platform.kill("server")
    time.sleep(1)
    platform.start_server()
    platform.ended(slug)
    assert [a["submission_id"] for a in answers(platform, slug)] == [1, 2, 3, 4, 5, 6]
    assert [r["state"] for r in platform.submissions(slug)] == ["graded"] * 6


def test_event_numbers_have_no_gap(platform: Platform, base: Path) -> None:
    slug = platform.run(base, "submit:1")
    platform.ended(slug)
    numbers = [e["seq"] for e in platform.get(slug, "events/")]
    assert numbers[0] == 1
    assert all(b - a == 1 for a, b in pairwise(numbers))


def _log_if_any(platform: Platform, slug: str) -> str:
    path = platform.data / "runs" / slug / "agent.log"
    return path.read_text() if path.exists() else ""


def _heart_stopped(platform: Platform, slug: str) -> bool:
    beat = platform.data / "runs" / slug / "workspace" / "output" / "beat"
    before = beat.read_text()
    time.sleep(1.0)
    return beat.read_text() == before


def _seconds(iso: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(iso).timestamp()
