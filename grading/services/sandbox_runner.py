"""Executes evaluations: `python -m grading.runner` in the sandbox, followed through its JSON lines."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings

from benchmark.sandbox.contract import Exit, Limits, Mount, Sandbox, SandboxFault, Spec
from benchmark.services.protocols import protocol_limit, protocol_unlimited
from benchmark.services.sandboxes import sandbox_for_grading
from benchmark.services.task_data import task_data, task_data_digest
from grading.contract import Finding, RunnerSpec, RunnerVerdict
from grading.models import Evaluation
from grading.ports import HoldLost, Pulse
from grading.services.way_out import WayOut
from grading.services.work import Work, work_of

CODE = PurePosixPath("/opt/agent2")


class SandboxRunner:
    """Implements `grading.ports.GradingRunner`."""

    def run(self, *, evaluation: Evaluation, pulse: Pulse) -> RunnerVerdict:
        """One attempt. Samples that an earlier attempt finished are kept in the evaluation's folder."""
        return work_execute(work_of(evaluation), pulse)


def work_execute(work: Work, pulse: Pulse) -> RunnerVerdict:
    """Run the grading runner to its verdict.

    Raises: HoldLost: the pulse said stop; SandboxFault.
    """
    (work.folder / "out").mkdir(parents=True, exist_ok=True)
    with WayOut(work.name, work.folder, work.desks) as way_out:
        verdict = _run(work, way_out, pulse)
        return replace(
            verdict,
            metrics={**verdict.metrics, **way_out.metrics()},
            versions={**verdict.versions, **way_out.versions()},
        )


def _run(work: Work, way_out: WayOut, pulse: Pulse) -> RunnerVerdict:
    sandbox = sandbox_for_grading()
    places = _places(work, sandbox)
    if outside := way_out.mount(isolated=sandbox.isolates):
        places["outside"] = outside
    (work.folder / "spec.json").write_text(json.dumps(asdict(_spec(work, places)), indent=1))
    (work.folder / "out" / "verdict.json").unlink(missing_ok=True)
    log_path = work.folder / "runner.log"
    log_path.unlink(missing_ok=True)
    running = sandbox.start(_command(work, sandbox, places, log_path))
    try:
        ended = _follow(running.wait, log_path, pulse)
    finally:
        running.stop()
    return _verdict(work.folder, ended, log_path)


def _places(work: Work, sandbox: Sandbox) -> dict[str, Mount]:
    """Each role's host folder and where the runner sees it; without isolation both are the same."""
    hosts = {
        "task": work.task.folder,
        "held_out": task_data(work.task).held_out,
        "work": work.folder,
        "code/benchmark": settings.BASE_DIR / "benchmark",
        "code/grading": settings.BASE_DIR / "grading",
    }
    if work.checkpoint is not None and work.reference is not None:
        hosts |= {"checkpoint": work.checkpoint, "reference": work.reference}
    inside = {role: PurePosixPath("/" + role) for role in hosts}
    inside |= {"code/benchmark": CODE / "benchmark", "code/grading": CODE / "grading"}
    return {
        role: Mount(host, inside[role] if sandbox.isolates else PurePosixPath(host), read_only=role != "work")
        for role, host in hosts.items()
    }


def _spec(work: Work, places: Mapping[str, Mount]) -> RunnerSpec:
    elsewhere = work.engine == "openai"
    return RunnerSpec(
        protocol=protocol_unlimited(work.protocol),
        task_dir=str(places["task"].target),
        held_out=str(places["held_out"].target),
        checkpoint=str(places["checkpoint"].target) if "checkpoint" in places else "",
        reference=str(places["reference"].target) if "reference" in places else "",
        engine=work.engine,
        device="cpu" if elsewhere else settings.DEVICE,
        dtype=settings.DTYPE,
        batch_size=settings.ENDPOINT_CONCURRENCY if elsewhere else settings.BATCH_SIZE,
        batch_invariant=settings.BATCH_INVARIANT and not elsewhere,
        limit=protocol_limit(work.protocol),
        held_out_sha256=task_data_digest(work.task),
        held_out_items=work.task.eval_size or None,
        endpoint=work.endpoint,
        outside=str(places["outside"].target) if "outside" in places else None,
    )


def _command(work: Work, sandbox: Sandbox, places: Mapping[str, Mount], log_path: Path) -> Spec:
    folder = places["work"].target
    return Spec(
        name=work.sandbox,
        command=[
            settings.RUNNER_PYTHON or sandbox.python,
            "-m",
            "grading.runner",
            str(folder / "spec.json"),
            str(folder / "out"),
        ],
        mounts=list(places.values()) if sandbox.isolates else (),
        env={
            "PYTHONPATH": str(CODE if sandbox.isolates else settings.BASE_DIR),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUNBUFFERED": "1",
            "OMP_WAIT_POLICY": "PASSIVE",
        },
        workdir=folder,
        limits=Limits(memory_bytes=settings.GRADING_MEMORY_BYTES, disk_bytes=20 * 1024**3, processes=4096),
        gpus=tuple(settings.GPUS) if settings.DEVICE == "cuda" and work.engine != "openai" else (),
        log_path=log_path,
    )


def _follow(wait: Any, log_path: Path, pulse: Pulse) -> Exit:
    """Pass progress on until the runner ends.

    Raises: HoldLost; SandboxFault: it went over the deadline.
    """
    deadline = time.monotonic() + settings.EVALUATION_DEADLINE_S
    offset, phase, done, of = 0, "starting", 0, 0
    while True:
        ended: Exit | None = wait(0.25)
        lines, offset = _new_lines(log_path, offset)
        for event in lines:
            phase = str(event.get("phase", phase))
            done, of = int(event.get("done", done)), int(event.get("of", of))
        if ended is not None:
            return ended
        if not pulse(phase, done, of):
            raise HoldLost
        if time.monotonic() > deadline:
            raise SandboxFault(
                f"The evaluation took longer than {settings.EVALUATION_DEADLINE_S:g} s; it was in {phase}."
            )


def _new_lines(path: Path, offset: int) -> tuple[list[dict[str, Any]], int]:
    """The runner's whole JSON lines after `offset`; other output is passed over."""
    if not path.exists():
        return [], offset
    with path.open("rb") as handle:
        handle.seek(offset)
        block = handle.read(1_048_576)
    whole = block[: block.rfind(b"\n") + 1]
    events = []
    for line in whole.splitlines():
        if line.startswith(b'{"event"'):
            try:
                events.append(json.loads(line))
            except ValueError:
                continue
    return events, offset + len(whole)


def _verdict(folder: Path, ended: Exit, log_path: Path) -> RunnerVerdict:
    path = folder / "out" / "verdict.json"
    if path.exists():
        told = json.loads(path.read_text())
        told["finding"] = Finding(**told["finding"]) if told.get("finding") else None
        told["warnings"] = tuple(Finding(**finding) for finding in told.get("warnings", ()))
        return RunnerVerdict(**told)
    tail = _last_lines(log_path)
    why = f"went over its {ended.exceeded} limit" if ended.exceeded else f"ended with code {ended.code}"
    raise SandboxFault(f"The grading runner {why} and left no verdict. Its last lines:\n{tail}")


def _last_lines(log_path: Path, most: int = 2000) -> str:
    if not log_path.exists():
        return ""
    with log_path.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - most))
        return log.read(most).decode("utf-8", "replace")
