"""Following the agent's log file into the database, secrets masked."""

import codecs
import logging
from dataclasses import dataclass, field
from pathlib import Path

from django.db import DatabaseError, connection
from django.utils import timezone

from benchmark.models import AgentLog
from benchmark.services.doorbell import doorbell_ring, group_of

log = logging.getLogger(__name__)
BLOCK = 262_144


@dataclass
class LogFollower:
    """Reads what was appended to `path` since the last look and keeps the tail in the run's `AgentLog` row.

    A secret that is cut by the end of a block is masked all the same: the last `max(len(secret)) - 1` characters wait
    for the next block, until `finish`.
    """

    run_id: int
    path: Path
    secrets: tuple[str, ...] = ()
    offset: int = 0
    _held: str = ""
    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")(errors="replace")
    )

    def look(self, *, final: bool = False) -> bool:
        """True when there was something new. Reads at most one block, or all that is left when `final`."""
        fresh = self._held + self._decoder.decode(self._read(final), final)
        for secret in self.secrets:
            fresh = fresh.replace(secret, "•••")
        keep = 0 if final else max((_overlap(fresh, secret) for secret in self.secrets), default=0)
        self._held = fresh[len(fresh) - keep :] if keep else ""
        fresh = fresh[: len(fresh) - keep] if keep else fresh
        if fresh:
            try:
                self._store(fresh.replace("\x00", "�"))
            except DatabaseError:
                self._held = fresh + self._held
                raise
        return bool(fresh)

    def look_if_possible(self, *, final: bool = False) -> None:
        """Look, unless the database is away: then what was read waits for the next look."""
        try:
            self.look(final=final)
        except DatabaseError as error:
            log.warning("the log of run %s could not be stored now: %s", self.run_id, error)
            connection.close()

    def _read(self, final: bool) -> bytes:
        if not self.path.exists():
            return b""
        with self.path.open("rb") as handle:
            if final:
                size = handle.seek(0, 2)
                self.offset = max(self.offset, size - 4 * BLOCK)
            handle.seek(self.offset)
            block = handle.read() if final else handle.read(BLOCK)
        self.offset += len(block)
        return block

    def _store(self, fresh: str) -> None:
        row, _ = AgentLog.objects.get_or_create(run_id=self.run_id)
        row.tail = (row.tail + fresh)[-AgentLog.TAIL_CHARS :]
        row.size += len(fresh)
        row.updated_at = timezone.now()
        row.save(update_fields=["tail", "size", "updated_at"])
        doorbell_ring(group_of(self.run_id))
        if connection.vendor == "sqlite":
            connection.close()


def _overlap(text: str, secret: str) -> int:
    """How many characters at the end of `text` could be the beginning of `secret`."""
    return next((n for n in range(min(len(secret) - 1, len(text)), 0, -1) if secret.startswith(text[-n:])), 0)
