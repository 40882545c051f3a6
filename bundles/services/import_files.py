"""Transcripts, code and summaries of an unpacked bundle into the stores that local runs use."""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from django.utils import timezone

from benchmark.masking import mask_text
from benchmark.models import Run
from bundles.checking.report import Claim
from traces.models import CodeSnapshot, Recording, Trace, TraceState
from traces.services.ingest import file_digest, trace_import
from traces.services.ingest_rows import storable
from traces.services.snapshots import tree_digest
from traces.services.snapshots_store import blob_put, masked
from traces.services.snapshots_walk import LEFT_OUT_MOST, Caps

Tell = Callable[[str, int, int], bool]
CAPS = Caps()
ENTRIES_MOST = 1000


def below(files: Path, relative: str) -> Path:
    """A path of the bundle on this machine. Raises: ValueError: it leads elsewhere."""
    path = files.joinpath(relative)
    if ".." in Path(relative).parts or Path(relative).is_absolute():
        raise ValueError(f"{relative} leads out of the bundle")
    return path


def traces_import(run: Run, claim: Claim, files: Path, tell: Tell) -> list[Trace]:
    """Every transcript, in the order given. What an interrupted import began is begun again. Raises: OSError."""
    Trace.objects.filter(run=run, state=TraceState.READING).delete()
    made = []
    for number, relative in enumerate(claim.transcripts):
        tell("reading transcripts", number, len(claim.transcripts))
        path = below(files, relative)
        if path.is_file() and not path.is_symlink():
            made.append(trace_import(run, path, name=relative))
    return made


def code_import(run: Run, claim: Claim, files: Path) -> None:
    """The code of each submission that has its own; code at the end of the run counts as the last submission's."""
    paths = {each.number: each.model_path for each in claim.submissions}
    places = {int(number): code for number, code in claim.code.items()}
    final = places.pop(0, None)
    if final and paths:
        places.setdefault(max(paths), final)
    known = set(CodeSnapshot.objects.filter(run=run).values_list("number", flat=True))
    for number in sorted(places.keys() & paths.keys() - known):
        _snapshot(run, number, paths[number], files, places[number]).save(force_insert=True)


def _snapshot(run: Run, number: int, model_path: str, files: Path, places: Mapping[str, str]) -> CodeSnapshot:
    kept: dict[str, tuple[str, int, int]] = {}
    left_out: dict[str, str] = {}
    total = 0
    for name in sorted(places):
        content = _content(below(files, places[name]))
        if content is None or len(content) > CAPS.file_bytes:
            left_out[storable(name)] = "too large" if content is not None else "not a file"
        elif len(kept) >= CAPS.files or total + len(content) > CAPS.total_bytes:
            left_out[storable(name)] = "the limit of code that is kept was reached"
        else:
            safe, count = masked(content, "")
            kept[storable(name)] = (blob_put(safe), len(safe), count)
            total += len(safe)
    return CodeSnapshot(
        run=run,
        number=number,
        model_path=storable(model_path)[:1024],
        files=kept,
        left_out=dict(islice(left_out.items(), LEFT_OUT_MOST)),
        notes=["It came in a bundle."],
        digest=tree_digest(kept),
        total_bytes=total,
    )


def _content(path: Path) -> bytes | None:
    """A regular file's bytes up to one more than are kept; None: it is none."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(CAPS.file_bytes + 1) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
    except OSError:
        return None


def record_import(run: Run, claim: Claim, files: Path, traces: list[Trace]) -> None:
    """What pages and reports show of a run's record."""
    now = timezone.now()
    counts = [len(code) for code in claim.code.values()]
    prose = next((path for path in claim.summaries if path.endswith(".md")), "")
    lines = next((path for path in claim.summaries if path.endswith(".jsonl")), "")
    values: dict[str, Any] = {
        "trace": traces[0] if traces else None,
        "code_files": max(counts) if counts else None,
        "model_versions": len({each.model_path for each in claim.submissions if each.model_path}) or None,
        "summary": _text(files, prose),
        "summary_entries": list(_entries(files, lines)),
        "notes": ["Imported from a bundle: the platform recorded none of it"],
        "sealed_at": now,
        "ingested_at": now,
    }
    if traces:
        path = below(files, claim.transcripts[0])
        values |= {"log_bytes": path.stat().st_size, "log_sha256": file_digest(path)}
    Recording.objects.update_or_create(run=run, defaults=values)


def _text(files: Path, relative: str) -> str:
    content = _content(below(files, relative)) if relative else None
    return storable(mask_text(content.decode("utf-8", "replace"))) if content else ""


def _entries(files: Path, relative: str) -> Iterator[Any]:
    for line in _text(files, relative).splitlines()[:ENTRIES_MOST]:
        try:
            entry = json.loads(line, parse_constant=str)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield entry
