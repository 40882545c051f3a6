"""Recording what a run tried: what its gateway refused, which limit ended it, and words in its output."""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from django.db import DatabaseError, connection

from benchmark.masking import mask_text
from benchmark.models import IntegrityFinding, IntegritySource, Run, secret_hash
from benchmark.services.adoption import RunLeft

log = logging.getLogger(__name__)
LOG_MOST = 256 << 20
"""Of the output that is searched, in bytes."""
PLACES = 10
LINE_MOST = 200
SIGNS: Mapping[str, tuple[str, re.Pattern[bytes]]] = {
    "metadata_address": (
        "names a cloud's metadata address",
        re.compile(rb"169\.254\.169\.254|metadata\.google\.internal|fd00:ec2::254"),
    ),
    "docker_socket": ("names the container engine's socket", re.compile(rb"/run/(docker|podman/podman)\.sock")),
    "host_proc": (
        "reads the host through /proc",
        re.compile(rb"/proc/(1|self|thread-self)/root\b|/proc/kcore|/proc/sysrq-trigger"),
    ),
    "new_namespace": ("makes or enters namespaces", re.compile(rb"\b(unshare|nsenter)\s+-|\bpivot_root\b")),
    "mount": ("mounts file systems", re.compile(rb"\bmount\s+(-o|-t|--bind|--rbind)\b")),
    "raw_socket": ("opens raw sockets", re.compile(rb"\bSOCK_RAW\b|\bAF_PACKET\b")),
    "clock": ("sets the clock", re.compile(rb"\bdate\s+(-s|--set)\b|\bclock_settime\b|\bsettimeofday\b|\bhwclock\b")),
    "fork_bomb": ("starts a fork bomb", re.compile(rb":\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}")),
    "grader_call": ("calls the grader's own functions", re.compile(rb"/set_baseline\b|/force_score\b")),
}

REFUSED: Mapping[str, str] = {
    "foreign_token": "asked for the grading of another run",
    "forbidden_host": "asked for a host that is not on the operator’s list",
    "refused_address": "asked the gateway for what it does not let through",
}
ABUSE: Mapping[str, str] = {
    "too_many_connections": "opened more connections to the gateway than a run may",
    "slow_request": "kept the gateway waiting for a request for longer than it waits",
    "malformed_request": "sent the gateway what is no HTTP, or two lengths of one body",
}
HITS: Mapping[str, str] = {
    "memory": "had a process killed for the memory limit",
    "processes": "was refused a process for the limit of processes",
    "tmp": "filled a folder that lies in memory: /tmp, HOME or /dev/shm",
    "log": "printed more than is kept",
    "sigterm": "did not end when it was asked to (SIGTERM), and was killed",
}


@dataclass
class Seen:
    """How often, and the first places."""

    count: int = 0
    places: list[str] = field(default_factory=list)

    def at(self, place: str) -> None:
        self.count += 1
        if len(self.places) < PLACES:
            self.places.append(place)


class Gate(Protocol):
    """What of a gateway counts here."""

    @property
    def refused(self) -> Mapping[str, int]:
        """Paths that it refused, and how often."""
        ...

    @property
    def abuse(self) -> Mapping[str, int]:
        """What was done to itself, by code, and how often."""
        ...


@dataclass
class Watched:
    """`limit` is set once the agent was ended for one; `hits` are those of its sandbox (`Running.hits`)."""

    limit: str = ""
    hits: set[str] = field(default_factory=set)


@contextmanager
def integrity_watched(run: Run, gate: Gate, log_path: Path) -> Iterator[Watched]:
    """Record at the end of the body, unless the agent is left to another worker (`RunLeft`)."""
    watched = Watched()
    try:
        yield watched
    except RunLeft:
        raise
    except BaseException:
        _recorded(run, gate, watched, log_path)
        raise
    _recorded(run, gate, watched, log_path)


def _recorded(run: Run, gate: Gate, watched: Watched, log_path: Path) -> None:
    try:
        integrity_record(run=run, gate=gate, watched=watched, log_path=log_path)
    except DatabaseError as error:
        log.warning("what %s tried could not be stored: %s", run.slug, error)
        connection.close()


def integrity_record(*, run: Run, gate: Gate, watched: Watched, log_path: Path) -> int:
    """Store what was seen; how many kinds.

    Never raises OSError: a log that cannot be read is said in the worker's own log.
    """
    findings = [*_refusals(run, gate.refused), *_abuse(run, gate.abuse), *_limits(run, watched)]
    try:
        findings += _words(run, log_path)
    except OSError as error:
        log.warning("the output of %s could not be searched: %s", run.slug, error)
    IntegrityFinding.objects.bulk_create(findings, ignore_conflicts=True)
    return len(findings)


def _refusals(run: Run, refused: Mapping[str, int]) -> Iterator[IntegrityFinding]:
    kinds: dict[str, Seen] = {}
    counts: Counter[str] = Counter()
    for path, count in refused.items():
        code = _code_of(run, path)
        kinds.setdefault(code, Seen()).at(re.sub(r"^/grading/[^/]+", "/grading/…", mask_text(path))[:LINE_MOST])
        counts[code] += count
    for code, seen in kinds.items():
        yield IntegrityFinding(
            run=run,
            source=IntegritySource.GATEWAY,
            code=code,
            title=REFUSED[code],
            count=counts[code],
            places=seen.places,
        )


def _code_of(run: Run, path: str) -> str:
    """Which of REFUSED. A run's own token before an odd path is nobody else's."""
    if path.startswith("/out/"):
        return "forbidden_host"
    if not path.startswith("/grading/"):
        return "refused_address"
    own = bool(run.token_hash) and secret_hash(path.split("/")[2]) == run.token_hash
    return "refused_address" if own and ".." not in path and "%" not in path else "foreign_token"


def _abuse(run: Run, abuse: Mapping[str, int]) -> Iterator[IntegrityFinding]:
    for code, count in abuse.items():
        yield IntegrityFinding(
            run=run, source=IntegritySource.GATEWAY, code=code, title=ABUSE.get(code, code), count=count
        )


def _limits(run: Run, watched: Watched) -> Iterator[IntegrityFinding]:
    limit = watched.limit
    if limit:
        title = f"went over its {limit} limit and was ended"
        yield IntegrityFinding(run=run, source=IntegritySource.LIMIT, code=f"limit_{limit}", title=title)
    for hit in sorted(watched.hits - {limit}):
        yield IntegrityFinding(run=run, source=IntegritySource.LIMIT, code=f"hit_{hit}", title=HITS.get(hit, hit))


def _words(run: Run, path: Path) -> Iterator[IntegrityFinding]:
    """Raises: OSError."""
    found: dict[str, Seen] = {}
    if not path.exists():
        return
    with path.open("rb") as source:
        read = 0
        for number, line in enumerate(iter(lambda: source.readline(1 << 16), b""), start=1):
            read += len(line)
            if read > LOG_MOST:
                break
            for code, (_, pattern) in SIGNS.items():
                if pattern.search(line):
                    text = mask_text(line.decode("utf-8", "replace")).replace("\x00", "�").strip()
                    found.setdefault(code, Seen()).at(f"line {number}: {text[:LINE_MOST]}")
    for code, seen in found.items():
        yield IntegrityFinding(
            run=run,
            source=IntegritySource.LOG,
            code=code,
            title=SIGNS[code][0],
            count=seen.count,
            places=seen.places,
        )
