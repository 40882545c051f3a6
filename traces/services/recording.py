"""Recording a run while its agent works: its log, its events, what its machine does. Faults here never end a run."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from django.db import DatabaseError, close_old_connections, connection

from benchmark.models import Run
from benchmark.sandbox.contract import Running
from traces.models import Recording
from traces.services.recording_live import LogTail
from traces.services.recording_sealing import recording_seal, ring
from traces.services.recording_times import times_path
from traces.services.recording_workspace import WorkspaceWatch
from traces.services.sampling import Sampler

log = logging.getLogger(__name__)
LOOK_S, SAMPLE_S, WORKSPACE_S = 2.0, 10.0, 60.0


class Recorder:
    """Implements `benchmark.ports.RunRecorder`."""

    @contextmanager
    def recording(
        self, run_id: int, *, log_path: Path, workspace: Path, secrets: tuple[str, ...] = ()
    ) -> Iterator["LiveRecording"]:
        live = LiveRecording(run_id, log_path, workspace, secrets)
        live.begin()
        try:
            yield live
        finally:
            live.end()


@dataclass
class LiveRecording:
    """One run's recording, in a thread of its own."""

    run_id: int
    log_path: Path
    workspace: Path
    secrets: tuple[str, ...]
    _over: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _sampler: Sampler | None = None
    _left: bool = False

    def follow(self, running: Running) -> None:
        """The agent was started."""
        if self._sampler is not None:
            self._sampler.running = running

    def leave(self) -> None:
        """Another worker goes on recording: nothing is sealed at the end of this one."""
        self._left = True

    def begin(self) -> None:
        self._sampler = Sampler(self.run_id, self.workspace)
        self._thread = threading.Thread(target=self._work, name=f"recording-{self.run_id}", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """The agent has ended: the log is complete. Returns once it is sealed."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        try:
            self._record()
        except Exception:
            log.exception("run %s is not recorded further; its log stays where it is", self.run_id)
        finally:
            connection.close()

    def _record(self) -> None:
        run = Run.objects.get(pk=self.run_id)
        Recording.objects.get_or_create(run=run)
        times_path(run).parent.mkdir(parents=True, exist_ok=True)
        tail, watch = LogTail(run, self.log_path, self.secrets), WorkspaceWatch(self.workspace)
        assert self._sampler is not None
        duties = [Duty(tail.look, LOOK_S), Duty(self._sampler.take, SAMPLE_S, LOOK_S), Duty(watch.look, WORKSPACE_S)]
        try:
            while not self._over.wait(max(0.05, min(duty.due for duty in duties) - time.monotonic())):
                close_old_connections()
                for duty in duties:
                    duty.do_if_due()
                close_old_connections()
            for action in (tail.read, watch.look):
                quietly(action)
        finally:
            with contextlib.suppress(OSError):
                tail.close()
        if self._left:
            return
        recording_seal(run, self.log_path, tail=tail, watch=watch, token_hash=run.token_hash)
        ring(run.pk)


class Duty:
    """Something to do again and again; a fault waits for the next time."""

    def __init__(self, action: Callable[[], object], every_s: float, after_s: float = 0.0) -> None:
        self.action, self.every_s = action, every_s
        self.due = time.monotonic() + after_s

    def do_if_due(self) -> None:
        if time.monotonic() >= self.due:
            quietly(self.action)
            self.due = time.monotonic() + self.every_s


def quietly(action: Callable[[], object]) -> None:
    try:
        action()
    except DatabaseError as error:
        log.warning("the database is away: %s", error)
        connection.close()
    except Exception:
        log.exception("a part of a run's recording failed")
