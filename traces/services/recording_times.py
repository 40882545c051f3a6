"""When the log's lines arrived: a line of `bytes lines epoch-seconds` for each look at it that found something new."""

import time
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from benchmark.models import Run
from traces.storage import files


def times_path(run: Run) -> Path:
    return Path(settings.TRACES_DIR) / "times" / run.slug


def times_append(run: Run, size: int, lines: int) -> None:
    """That much had arrived by now. Raises: OSError."""
    path, line = times_path(run), f"{size} {lines} {time.time():.3f}\n".encode()
    with path.open("ab") as times:
        start = times.tell()
        times.write(line)
    if files.carried is not None:
        files.carried(path, start, line)


@dataclass(frozen=True)
class LogTimes:
    """Cumulative counts, and when that much had arrived. The clock is the platform's."""

    sizes: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()
    moments: tuple[float, ...] = field(default=())

    def at_line(self, line: int) -> datetime | None:
        """When that line, from 1, had arrived whole; None: it has not, or nobody looked."""
        place = bisect_left(self.lines, line)
        return datetime.fromtimestamp(self.moments[place], UTC) if place < len(self.lines) else None

    def at_byte(self, offset: int) -> datetime | None:
        """When the byte at `offset` of the raw log had arrived."""
        place = bisect_left(self.sizes, offset + 1)
        return datetime.fromtimestamp(self.moments[place], UTC) if place < len(self.sizes) else None


def lines_within(path: Path, size: int, times: LogTimes) -> int:
    """Lines that end within the first `size` bytes of the log. Raises: OSError."""
    place = bisect_right(times.sizes, size) - 1
    start, count = (times.sizes[place], times.lines[place]) if place >= 0 else (0, 0)
    with path.open("rb") as source:
        source.seek(start)
        while start < size and (data := source.read(min(1 << 20, size - start))):
            count += data.count(b"\n")
            start += len(data)
    return count


def last_offset(path: Path) -> int:
    """Of the raw log, up to where times are written; 0: none are."""
    try:
        whole = [line.split() for line in path.read_text(encoding="ascii", errors="replace").split("\n")[:-1]]
    except OSError:
        return 0
    return max((int(parts[0]) for parts in whole if len(parts) == 3), default=0)


def log_times(run: Run) -> LogTimes:
    """Empty when there are none; a last line that is cut is passed over."""
    try:
        text = times_path(run).read_text(encoding="ascii", errors="replace")
    except OSError:
        return LogTimes()
    rows = [parts for line in text.split("\n")[:-1] if len(parts := line.split()) == 3]
    return LogTimes(
        tuple(int(row[0]) for row in rows), tuple(int(row[1]) for row in rows), tuple(float(row[2]) for row in rows)
    )
