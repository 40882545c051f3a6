"""The trusted side: runs a problem's own tests, whose calls an untrusted candidate process answers.

Standard input: one JSON object a line (`prompt`, `entry_point`, `test`, `completion`). Standard output: one line each,
either a trial's outcome or `{"fault": why}`. The tests are the data set's own code. A candidate supplies values only;
that a test's assertions hold is found out here, and a test that did not run to its end has not passed.
"""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .extraction import reference_program_of
from .nursery import ANSWER, CPU_S
from .wire import Channel, Closed, Garbled, NotPlain, decode, encode

WALL_S = 20.0
"""For everything that a candidate does; what is meant to end it is its `CPU_S` seconds of processor time."""
TEST_EXTRA_S = 5.0
"""How much longer than its candidate a test may take."""


class Fault(Exception):
    """Ours: no candidate can be started safely."""


class Failed(Exception):
    """The candidate has not passed: `kind` says how."""

    def __init__(self, kind: str, detail: str = "") -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class Nursery:
    """The process that forks candidates; see `nursery.py`."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        command = [sys.executable, "-s", "-S", "-P", "-B", "-m", f"{__package__}.nursery"]
        self._process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL)
        theirs.close()

    @contextmanager
    def candidate(self, wall_s: float) -> Iterator["Candidate"]:
        """One fresh candidate; it is dead afterwards."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            socket.send_fds(self._socket, [b"f"], [theirs.fileno()])
            self._answer()
            theirs.close()
            candidate = Candidate(Channel(ours.fileno(), time.monotonic() + wall_s), self)
            try:
                yield candidate
            finally:
                candidate.end()

    def end_candidate(self) -> tuple[int, int]:
        """Kill it; its wait status and the microseconds of processor time that it used."""
        self._socket.sendall(b"e")
        return self._answer()

    def _answer(self) -> tuple[int, int]:
        answer = self._socket.recv(ANSWER.size, socket.MSG_WAITALL)
        if len(answer) < ANSWER.size:
            raise Fault("the process that starts candidates ended")
        status, used = ANSWER.unpack(answer)
        return status, used


class Candidate:
    """One candidate process, as a function that returns plain data."""

    def __init__(self, channel: Channel, nursery: Nursery) -> None:
        self._channel = channel
        self._nursery = nursery
        self._how_ended: tuple[int, int] | None = None
        self.program = ""
        self.calls = 0

    def load(self, order: dict[str, str]) -> None:
        """Raises: Failed; Fault: it is not locked down."""
        try:
            first = self._ask(None)
        except Failed as failed:
            raise Fault(f"a candidate's process did not come up: {failed}") from failed
        if first.get("ready") is not True:
            raise Fault(str(first.get("fault")))
        chosen = self._ask(order)
        self.program = chosen["program"]
        if chosen["kind"] != "code":
            raise Failed(chosen["kind"], chosen.get("detail", ""))
        self._value(self._ask(None), "loaded")

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Raises: Failed."""
        self.calls += 1
        answer = self._ask(encode(((args), kwargs)))
        try:
            return decode(self._value(answer, "value"))
        except Garbled as error:
            raise Failed("error", "returned what is not plain data") from error

    def end(self) -> tuple[int, int]:
        """Kill it, once; its wait status and the microseconds of processor time that it used."""
        if self._how_ended is None:
            self._how_ended = self._nursery.end_candidate()
        return self._how_ended

    def _ask(self, message: Any) -> dict[str, Any]:
        try:
            if message is not None:
                self._channel.send(message)
            answer = self._channel.receive()
        except TimeoutError as error:
            raise Failed("time_out", "no answer in time") from error
        except Garbled as error:
            raise Failed("error", str(error)) from error
        except Closed as error:
            raise self._ended() from error
        return answer if isinstance(answer, dict) else {}

    def _ended(self) -> Failed:
        status, used = self.end()
        # The kernel's signal can be ignored, for a second; its two counts of the time differ a little.
        if (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU) or used >= CPU_S * 1e6:
            return Failed("time_out", f"{CPU_S} s of processor time are used up")
        return Failed("error", f"the process ended early (wait status {status})")

    def _value(self, answer: dict[str, Any], key: str) -> Any:
        if key in answer:
            return answer[key]
        if "odd" in answer:
            raise Failed("wrong_answer", f"returned a {answer['odd']}"[:300])
        raise Failed("error", str(answer.get("raised", "no answer"))[:300])


class Judge:
    """Tries completions one at a time."""

    def __init__(self, wall_s: float = WALL_S) -> None:
        self._nursery = Nursery()
        self._wall_s = wall_s

    def verdict(self, request: dict[str, str]) -> dict[str, Any]:
        """The outcome under our rule, and whether it passes under the reference's. Raises: Fault."""
        own = self._trial(request, "own")
        theirs = reference_program_of(request["prompt"], request["completion"], request["entry_point"])
        same = theirs.rstrip() == own["program"].rstrip()
        other = own if same else self._trial(request, "reference")
        return {**own, "reference_passed": other["kind"] == "passed"}

    def _trial(self, request: dict[str, str], rule: str) -> dict[str, Any]:
        order = {key: request[key] for key in ("prompt", "entry_point", "completion")} | {"rule": rule}
        program = ""
        try:
            with self._nursery.candidate(self._wall_s) as candidate:
                try:
                    candidate.load(order)
                finally:
                    program = candidate.program
                with _alarm(self._wall_s + TEST_EXTRA_S):
                    run_test(request, candidate)
        except Failed as failed:
            return {"kind": failed.kind, "detail": failed.detail, "program": program}
        return {"kind": "passed", "detail": "", "program": program}


def run_test(problem: dict[str, str], candidate: Any) -> None:
    """Raises: Failed: an assertion does not hold, or the candidate failed."""
    # Some tests use the prompt's helper functions; the entry point itself is the candidate, as in the data set.
    namespace: dict[str, Any] = {"__name__": "judge"}
    exec(problem["prompt"], namespace)  # noqa: S102 - the data set's own code, known by its digest
    exec(problem["test"], namespace)  # noqa: S102
    namespace[problem["entry_point"]] = candidate
    random.seed(0)
    try:
        namespace["check"](candidate)
    except Failed:
        raise
    except NotPlain as error:
        raise Fault(f"a test passes a {error}") from error
    except AssertionError as error:
        raise Failed("wrong_answer", str(error)[:300]) from error
    except Exception as error:  # the test's arithmetic on a value of the wrong type
        raise Failed("wrong_answer", f"{type(error).__name__}: {error}"[:300]) from error
    if not candidate.calls:
        raise Fault("the test called nothing")


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Raises: Failed: a test computes too long with what the candidate returned."""

    def ring(*_: object) -> None:
        raise Failed("time_out", f"the test took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def main() -> None:
    """Until standard input ends."""
    judge = Judge()
    for line in sys.stdin:
        try:
            answer = judge.verdict(json.loads(line))
        except (Fault, OSError) as fault:
            answer = {"fault": str(fault)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
