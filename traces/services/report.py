"""The platform's own report of a run, from what was recorded: Markdown that needs nothing else to be read."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmark.models import Run
from traces.methods.failures import FailureSuggestion
from traces.models import CodeSnapshot, LabelSource, MethodLabel, Recording
from traces.services.metrics import Metric, RunMetrics
from traces.services.metrics_record import Scored

DASH = "—"
SPECIAL = str.maketrans({char: "\\" + char for char in "\\`*_[]<>#|"} | {"\n": " ", "\r": " "})


def run_report(
    run: Run,
    metrics: RunMetrics,
    *,
    labels: Mapping[int, MethodLabel],
    snapshots: Mapping[int, CodeSnapshot],
    failures: Sequence[FailureSuggestion] | None,
    recording: Recording | None,
) -> str:
    """What was tried, when, with what score and by which method; what the agent itself said stands apart, quoted.

    `failures` None: withheld, because people are to label the run without having seen them.
    """
    parts = (
        _head(run, metrics),
        _attempts(metrics, labels),
        _turns(metrics),
        _measured(metrics),
        _evidence(labels, snapshots),
        _suggested(run, failures),
        _recorded(recording),
        _agents_words(recording),
    )
    return "\n".join(line for part in parts for line in part).rstrip() + "\n"


def escaped(text: str) -> str:
    """Text of the agent's on one line, without meaning in Markdown or HTML."""
    return text.translate(SPECIAL)


def _head(run: Run, metrics: RunMetrics) -> Iterator[str]:
    record, best = metrics.record, metrics.record.best
    yield f"# Run {run.slug}"
    yield ""
    yield (
        f"{escaped(run.agent)} {escaped(run.agent_version)}, driver {escaped(run.driver)}, task {escaped(run.task)} "
        f"(protocol {escaped(run.protocol)}), base model {escaped(run.base_model)}, mode {run.mode}. "
        f"State: {run.get_state_display()}. Time used: {_clock(record.used_s)} of {_clock(record.budget_s)}."
    )
    yield ""
    if best is None:
        yield f"No score after {len(record.submissions)} submissions."
    else:
        gain = "" if record.baseline is None else f", {(best.score or 0) - record.baseline:+.2f} against the baseline"
        yield f"Best score {_score(best.score)} with submission {best.number} at {_clock(best.elapsed_s)}{gain}."
    if run.fault_code:
        yield f"The run ended with {run.fault_code}: {escaped(run.fault_detail[:500])}"
    yield ""


def _attempts(metrics: RunMetrics, labels: Mapping[int, MethodLabel]) -> Iterator[str]:
    yield "## What was tried"
    yield ""
    yield f"Baseline: {_score(metrics.record.baseline)}. {DASH} is not scored; it is not zero."
    yield ""
    if not metrics.record.submissions:
        yield "Nothing was submitted."
        yield ""
        return
    yield "| # | at | score | best so far | method | checkpoint | reason |"
    yield "|---:|---:|---:|---:|---|---|---|"
    best: float | None = None
    for each in metrics.record.submissions:
        if each.score is not None and (best is None or each.score > best):
            best = each.score
        reason = each.code or ("waits" if each.is_waiting else "")
        yield (
            f"| {each.number} | {_clock(each.elapsed_s)} | {_score(each.score)} | {_score(best)} "
            f"| {_method(each, labels.get(each.number))} | {escaped(each.model_path)} | {reason} |"
        )
    yield ""


def _method(each: Scored, label: MethodLabel | None) -> str:
    if label is None:
        return "not judged yet"
    told = " → ".join(each.methods) or "none found"
    by = f"by {escaped(label.author_name)}" if label.source == LabelSource.PERSON else label.confidence
    return f"{told} ({by})" if by else told


def _turns(metrics: RunMetrics) -> Iterator[str]:
    switches = metrics.record.switches
    if not switches:
        return
    yield "## Method switches"
    yield ""
    words = {True: "raised the best score", False: "did not raise the best score", None: "was not scored"}
    for switch in switches:
        before = f" (best before: {_score(switch.best_before)})" if switch.best_before is not None else ""
        yield (
            f"- Submission {switch.number}: {switch.before} to {switch.after}, "
            f"{_score(switch.score)}, {words[switch.is_success]}{before}."
        )
    yield ""


def _measured(metrics: RunMetrics) -> Iterator[str]:
    yield "## Metrics"
    yield ""
    yield "| metric | value | by the reference | definition |"
    yield "|---|---:|---:|---|"
    for metric in (*metrics.native, *metrics.process, *metrics.methods):
        if metric.key != "score_trajectory":
            other = _value(metric, metric.reference) if metric.differs else ""
            yield f"| {metric.title} | {_value(metric, metric.value)} | {other} | {escaped(metric.definition)} |"
    yield ""


def _evidence(labels: Mapping[int, MethodLabel], snapshots: Mapping[int, CodeSnapshot]) -> Iterator[str]:
    if not labels:
        return
    yield "## What the labels rest on"
    yield ""
    for number in sorted(labels):
        label, code = labels[number], snapshots.get(number)
        of = f"{len(code.files)} files of code, {code.digest[:12]}" if code else "no code was kept"
        yield f"- Submission {number} ({of})"
        if label.source == LabelSource.PERSON:
            yield f"  - {escaped(label.author_name)}, {label.created_at:%Y-%m-%d %H:%M} UTC: {escaped(label.reason)}"
        for finding in label.findings[:10]:
            doubts = f"; in doubt: {escaped('; '.join(finding['doubts']))}" if finding["doubts"] else ""
            line = f":{finding['line']}" if finding["line"] else ""
            yield f"  - {finding['method']}: {escaped(finding['file'])}{line}, {escaped(finding['why'])}{doubts}"
    yield ""


def _suggested(run: Run, failures: Sequence[FailureSuggestion] | None) -> Iterator[str]:
    if not run.terminal:
        return
    yield "## Failure types that rules suggest"
    yield ""
    if failures is None:
        yield "Withheld until the run is labelled: people label it without having seen them."
    elif not failures:
        yield "None of the five types of the paper’s table 10 matches."
    for failure in failures or ():
        yield f"- {failure.type} ({failure.confidence}): {escaped('; '.join(failure.evidence))}"
    yield ""


def _recorded(recording: Recording | None) -> Iterator[str]:
    if recording is None or recording.sealed_at is None:
        return
    yield "## Record"
    yield ""
    yield f"- Agent log: {recording.log_bytes} bytes, SHA-256 {recording.log_sha256}"
    if recording.trace is not None:
        events, masked = recording.trace.event_count, recording.trace.masked_count
        yield f"- Trace: {events} events, dialect {recording.trace.dialect or 'text'}, {masked} secrets masked"
    for note in recording.notes:
        yield f"- Note: {escaped(note)}"
    yield ""


def _agents_words(recording: Recording | None) -> Iterator[str]:
    if recording is None or not (recording.summary or recording.summary_entries):
        return
    yield "## What the agent wrote itself"
    yield ""
    yield "Not checked. From `summary.md` and `summary.jsonl` in its workspace, secrets masked."
    yield ""
    for line in recording.summary.splitlines():
        yield "    " + line
    if recording.summary_entries:
        yield ""
        yield f"`summary.jsonl` has {len(recording.summary_entries)} entries."
    yield ""


def _score(score: float | None) -> str:
    return DASH if score is None else f"{score:.2f}"


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return DASH
    hours, rest = divmod(int(seconds), 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}"


def _value(metric: Metric, value: Any) -> str:
    if value is None:
        return DASH
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if metric.unit == "points":
        return _score(float(value))
    if metric.unit == "seconds":
        return _clock(float(value))
    return f"{value:.2f}" if metric.unit == "share" else str(value)
