"""Workspaces in the reference's layout, and run folders of this platform, which hold such a workspace."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from typing import Any

from bundles.dialects.facts import Claim, RunFacts
from bundles.dialects.values import clock_seconds, moment, number, numbered, table, whole, word
from bundles.format.jsonfile import BadJson, json_load, json_read
from bundles.format.tree import Tree
from bundles.rules.findings import Finding, found

SCORES_LIMIT = 32 << 20
META_FILES = ("run_meta.json", "workspace/run_meta.json")
RUN_NAME = re.compile(r"(\d{8}T\d{6})_([A-Za-z0-9.-]+)")
IGNORED_FOLDERS = ("models/", "data/", "output/", "tools/")
FOOTER = re.compile(r"^(exit_code|elapsed|summary_exists|model_files|code_files): *(.+)$", re.MULTILINE)
RESULTS = "results.csv"


def workspace_is(tree: Tree, folder: str) -> bool:
    return any(folder + name in tree for name in (*META_FILES, "scores.json", "workspace/scores.json"))


def workspace_read(tree: Tree, root: str, name: str) -> tuple[RunFacts, list[Finding]]:
    """`root` is the run's folder inside `tree`, "" or ending in `/`; `name` is the archive's."""
    run = RunFacts("workspace", root=root.rstrip("/"))
    findings: list[Finding] = []
    inner = root + "workspace/" if any(path.startswith(root + "workspace/") for path in tree.sizes) else root
    _meta(tree, inner, run, findings)
    _from_folder(root, name, run)
    _scores(tree, inner if inner + "scores.json" in tree else root, run, findings)
    _results(tree, root, run, findings)
    _sort_files(tree, root, inner, run)
    _footer(tree, root, run, findings)
    _zone(run, findings)
    run.tasks = run.tasks or ([run.task] if run.task else [])
    return run, findings


def _meta(tree: Tree, inner: str, run: RunFacts, findings: list[Finding]) -> None:
    path = inner + "run_meta.json"
    if path not in tree:
        findings.append(found("meta_missing", f"{path} was expected: it tells start, end and budget.", path))
        return
    try:
        meta = table(json_load(tree.place(path), SCORES_LIMIT))
    except BadJson as error:
        findings.append(found("file_unreadable", f"{path}: {error.text}", path))
        return
    run.run, run.task = word(meta.get("run_id")), word(meta.get("task"))
    run.base_model, run.mode = word(meta.get("base_model")), word(meta.get("mode"))
    run.agent, run.driver = word(meta.get("agent")), word(meta.get("driver"))
    run.budget_s = number(meta.get("timeout_s"))
    run.started_at, run.ended_at = moment(meta.get("start_time")), moment(meta.get("end_time"))
    last = moment(meta.get("last_submit_time"))
    run.metrics["_last_submit_time"] = last
    if run.started_at and run.ended_at:
        run.used_s = (run.ended_at - run.started_at).total_seconds()
    told = f"{run.budget_s / 3600:g} h budget" if run.budget_s else "no budget"
    run.understood[path] = told + (f", {run.used_s:,.0f} s used" if run.used_s is not None else ", no end")


def _from_folder(root: str, name: str, run: RunFacts) -> None:
    """`<task>/<time>_<agent>` says what `run_meta.json` of the reference does not."""
    parts = [part for part in root.split("/") if part]
    stem = re.sub(r"\.(zip|tar|tar\.\w+|tgz)$", "", name)
    for at, part in enumerate([*parts, stem]):
        match = RUN_NAME.search(part)
        if match is None:
            continue
        run.run = run.run or match[0]
        run.agent = run.agent or match[2]
        before = part[: match.start()].rstrip("_-") or (parts[at - 1] if 0 < at <= len(parts) else "")
        if not run.task and re.fullmatch(r"[a-z][a-z0-9_-]{1,63}", before):
            run.task = before


def _scores(tree: Tree, inner: str, run: RunFacts, findings: list[Finding]) -> None:
    path = inner + "scores.json"
    if path not in tree:
        findings.append(found("scores_missing", f"{path} was expected: the list of submissions.", path))
        return
    try:
        listed = json_load(tree.place(path), SCORES_LIMIT)
    except BadJson as error:
        findings.append(found("scores_unreadable", f"{path}: {error.text}", path))
        return
    if not isinstance(listed, list):
        findings.append(found("scores_unreadable", f"{path} is no list of submissions.", path))
        return
    for index, entry in enumerate(listed, 1):
        if isinstance(entry, dict):
            run.submissions.append(claim_of(entry, index, run, findings, path))
        else:
            findings.append(
                found("scores_unreadable", f"Entry {index} of {path} is no object.", f"{path}, entry {index}")
            )
    unscored = len(run.submissions) - len(run.scored)
    run.understood[path] = f"{len(run.submissions)} submissions: {len(run.scored)} scored, {unscored} not"
    baselines = {claim.baseline for claim in run.submissions if claim.baseline is not None}
    if len(baselines) == 1:
        run.baselines[run.task] = baselines.pop()
    elif baselines:
        findings.append(found("baseline_varies", f"The submissions name {len(baselines)} different baselines.", path))


def claim_of(entry: dict[str, Any], index: int, run: RunFacts, findings: list[Finding], path: str) -> Claim:
    """One entry of `scores.json`."""
    stated = entry.get("score")
    claim = Claim(
        number=numbered(entry.get("submission_id"), index),
        task=word(entry.get("task")) or run.task,
        at=moment(entry.get("timestamp")),
        model_path=word(entry.get("model_path"), 1024),
        standard_error=number(entry.get("standard_error")),
        stated=stated,
        error=word(entry.get("error"), 2000),
        digest=word(entry.get("digest")).lower(),
        grading_s=number(entry.get("elapsed_seconds")),
        baseline=number(entry.get("baseline_score")),
        improvement=number(entry.get("improvement")),
    )
    place = f"{path}, entry {index}"
    if claim.error:
        if isinstance(stated, (int, float)) and not isinstance(stated, bool):
            text = f"“{claim.error[:200]}”. Read as not scored, so it is not a zero and enters no average."
            title = f"Submission {claim.number} says {stated} and carries an error"
            findings.append(found("score_with_error", text, place, title=title))
    elif isinstance(stated, bool) or not isinstance(stated, (int, float, type(None))):
        findings.append(found("score_no_number", f"The score of submission {claim.number} is {stated!r:.80}.", place))
    else:
        claim.score = number(stated)
    if run.started_at and claim.at:
        claim.elapsed_s = (claim.at - run.started_at).total_seconds()
    return claim


def _results(tree: Tree, root: str, run: RunFacts, findings: list[Finding]) -> None:
    """Our row of `results.csv`, in the run's folder or above it."""
    folders = [root, *[root[: at + 1] for at, char in enumerate(root[:-1]) if char == "/"], ""]
    path = next((folder + RESULTS for folder in folders if folder + RESULTS in tree), None)
    if path is None:
        return
    listed = list(csv.DictReader(io.StringIO(tree.text(path, 8 << 20))))
    mine = [row for row in listed if _is_ours(row, run)]
    run.understood[path] = f"{len(mine)} of {len(listed)} rows are of this run"
    for at, row in enumerate(listed, 1):
        if row not in mine:
            named = ", ".join(str(row.get(key) or "?") for key in ("run_id", "task", "agent"))
            title = f"Row {at} of results.csv belongs to another run"
            findings.append(found("results_other_run", named + ".", f"{path}, row {at}", title=title))
    for row in mine[:1]:
        _take_row(row, run)


def _is_ours(row: dict[str, Any], run: RunFacts) -> bool:
    ident = word(row.get("run_id"))
    folder = word(row.get("workspace")).rstrip("/").rsplit("/", 1)[-1]
    return bool(run.run) and ((bool(ident) and run.run.startswith(ident)) or folder == run.run)


def _take_row(row: dict[str, Any], run: RunFacts) -> None:
    run.task = run.task or word(row.get("task"))
    run.agent = word(row.get("agent")) or run.agent
    run.driver = word(row.get("driver_model")) or run.driver
    run.base_model = run.base_model or word(row.get("base_model"))
    run.claimed_best, run.claimed_improvement = number(row.get("best_score")), number(row.get("improvement"))
    run.claimed_count = whole(row.get("submissions"))
    run.used_s = run.used_s if run.used_s is not None else number(row.get("duration_s"))
    baseline = number(row.get("baseline"))
    if baseline is not None:
        run.baselines.setdefault(run.task, baseline)


def _sort_files(tree: Tree, root: str, inner: str, run: RunFacts) -> None:
    for path in tree.sizes:
        if path.startswith(root) and path not in run.understood:
            below = path[len(inner) :] if path.startswith(inner) else path[len(root) :]
            _one_file(tree, path, below, run)
    logs = [path for path in run.transcripts if path.endswith("agent.log")]
    if len(run.transcripts) > len(logs):
        for path in logs:
            run.transcripts.remove(path)
            run.logs.append(path)
            run.understood[path] = "the log that agent.jsonl was taken from; its footer was read"


def _one_file(tree: Tree, path: str, below: str, run: RunFacts) -> None:
    top = below.split("/", 1)[0]
    if below in ("agent.jsonl", "agent.log", "trajectory.json") or below.startswith("transcripts/"):
        run.transcripts.append(path)
    elif below.startswith("code/"):
        run.code.setdefault(0, {})[below[len("code/") :]] = path
    elif below in ("summary.md", "summary.jsonl", "reports/summary.md", "reports/summary.jsonl"):
        run.summaries.append(path)
    elif below in ("reports/metrics.json", "metrics.json"):
        run.metrics.update(table(json_read(tree.place(path), 1 << 20)))
        run.understood[path] = "process metrics"
    elif below.startswith("samples/") or top == "samples.jsonl":
        run.samples.append(path)
    elif below.endswith(".log") or top == "logs":
        run.logs.append(path)
    elif below in ("description.md", "instructions.md"):
        run.understood[path] = "what the agent was told"
    elif below.startswith(IGNORED_FOLDERS):
        run.ignored[path] = "weights and data stay with their owner"


def _footer(tree: Tree, root: str, run: RunFacts, findings: list[Finding]) -> None:
    """What the reference's runner writes below the agent's log."""
    path = next((each for each in tree.sizes if each.startswith(root) and each.endswith("agent.log")), None)
    if path is None:
        return
    with tree.open(path) as file:
        file.seek(max(0, tree.sizes[path] - 4096))
        tail = file.read(4096).decode("utf-8", "replace")
    told = dict(FOOTER.findall(tail))
    if path in run.logs:
        findings.append(
            found("log_repeats", f"{run.transcripts[0]} was read instead, and of the log its footer.", path)
        )
    run.exit_code = whole(told.get("exit_code", "").split(" ")[0])
    elapsed = clock_seconds(told.get("elapsed", ""))
    if run.used_s is None:
        run.used_s = elapsed
    if told.get("summary_exists") == "no" and run.summaries:
        text = f"{path} ends with “summary_exists: no”; {', '.join(run.summaries)} exists."
        findings.append(found("summary_after_end", text, f"{path}, last lines"))
    if run.exit_code is not None and not run.outcome:
        run.outcome = {0: "finished", 124: "timed_out", 137: "timed_out"}.get(run.exit_code, "failed")


def _zone(run: RunFacts, findings: list[Finding]) -> None:
    """Local times without a zone are moved by whole quarters of an hour where `last_submit_time` shows by how many."""
    last: Any | None = run.metrics.pop("_last_submit_time", None)
    times = [claim.at for claim in run.submissions if claim.at]
    if last is None or not times or run.started_at is None:
        return
    off = (max(times) - last).total_seconds()
    quarters = round(off / 900)
    if not quarters or abs(off - quarters * 900) > 120 or abs(quarters) > 56:
        return
    for claim in run.submissions:
        if claim.at:
            claim.at -= timedelta(minutes=15 * quarters)
            claim.elapsed_s = (claim.at - run.started_at).total_seconds()
    text = f"scores.json is {quarters / 4:+g} h ahead of run_meta.json: its times were read in that zone."
    findings.append(found("zone_shifted", text, "scores.json"))


def scores_file(tree: Tree, path: str, run: RunFacts, findings: list[Finding]) -> None:
    """A `scores.json` beside something else than a workspace."""
    _scores(tree, path[: -len("scores.json")], run, findings)
