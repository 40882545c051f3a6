"""PostTrainBench's result directories: one checkpoint, evaluated once after the end."""

from __future__ import annotations

import re

from bundles.dialects.facts import Claim, RunFacts
from bundles.dialects.values import clock_seconds, later, moment, number, table, whole, word
from bundles.format.jsonfile import BadJson, json_load, json_read
from bundles.format.tree import Tree
from bundles.rules.findings import Finding, found

RESULT_NAME = re.compile(r"([a-z0-9]+)_([A-Za-z0-9-]+)_([A-Za-z0-9.-]+)_(\d{8}_\d{6}|\d+)")
CONFIG_NAME = re.compile(r"([a-z][a-z-]*)_(.+)_(\d+)h")
NATIVE = re.compile(r"Task: (\S+) \| Agent: (\S+) \| Model: (\S+) \| GPU: (\S+)")
NATIVE_CONFIG = re.compile(r"Config: (\S+) \| Hours: (\d+)")
EXIT = re.compile(r"^exit_code: (\d+)", re.MULTILINE)
GPUS = re.compile(r"(\d+)x (NVIDIA [A-Z0-9]+)")
AGENTS = {"claude": "claude-code", "codex": "codex", "gemini": "gemini-cli", "opencode": "opencode"}


def posttrainbench_is(tree: Tree, folder: str) -> bool:
    return folder + "solve_out.txt" in tree


def posttrainbench_read(tree: Tree, root: str, name: str) -> tuple[RunFacts, list[Finding]]:
    """See `workspace_read`."""
    run = RunFacts("posttrainbench", root=root.rstrip("/"))
    findings: list[Finding] = []
    _from_names(root, name, run)
    _from_log(tree, root, run)
    _from_prompt(tree, root, run)
    _times(tree, root, run, findings)
    _result(tree, root, run, findings)
    _judgements(tree, root, run, findings)
    _sort(tree, root, run)
    run.tasks = [run.task] if run.task else []
    return run, findings


def _from_names(root: str, name: str, run: RunFacts) -> None:
    stem = re.sub(r"\.(zip|tar|tar\.\w+|tgz)$", "", name)
    for part in [*[part for part in root.split("/") if part][::-1], stem]:
        if match := RESULT_NAME.fullmatch(part):
            run.task, run.run = run.task or match[1], run.run or part
            run.base_model = run.base_model or f"{match[2]}/{match[3]}"
            run.started_at = run.started_at or moment(match[4])
        elif match := CONFIG_NAME.match(part):
            run.agent, run.driver = run.agent or match[1], run.driver or match[2]
            run.budget_s = run.budget_s or 3600.0 * int(match[3])


def _from_log(tree: Tree, root: str, run: RunFacts) -> None:
    path = root + "output.log"
    log = tree.text(path, 256 << 10)
    if match := NATIVE.search(log):
        run.task, run.agent, run.base_model = match[1], match[2], match[3]
        run.understood[path] = "task, agent, base model and how the agent ended"
    if match := NATIVE_CONFIG.search(log):
        run.driver, run.budget_s = match[1], 3600.0 * int(match[2])
    if match := EXIT.search(log):
        run.exit_code = int(match[1])
        run.outcome = {0: "finished", 124: "timed_out", 137: "timed_out"}.get(run.exit_code, "failed")
    run.agent = AGENTS.get(run.agent, run.agent)


def _from_prompt(tree: Tree, root: str, run: RunFacts) -> None:
    prompt = tree.text(root + "prompt.txt")
    if not prompt:
        return
    run.understood[root + "prompt.txt"] = "what the agent was told"
    if match := GPUS.search(prompt):
        run.hardware = {"gpus": [{"name": match[2], "count": int(match[1])}]}
    if not run.base_model and (match := re.search(r"small LLM \\?`([^`\\]+)", prompt)):
        run.base_model = match[1]


def _times(tree: Tree, root: str, run: RunFacts, findings: list[Finding]) -> None:
    path = root + "time_taken.txt"
    if path not in tree:
        findings.append(found("time_missing", f"{path} was expected: how long the agent ran.", path))
        return
    run.used_s = clock_seconds(tree.text(path, 100))
    if run.used_s is None:
        findings.append(found("file_unreadable", f"{path} holds no time as HH:MM:SS.", path))
        return
    run.understood[path] = f"{run.used_s:,.0f} s used"
    run.ended_at = later(run.started_at, run.used_s)


def _result(tree: Tree, root: str, run: RunFacts, findings: list[Finding]) -> None:
    path = root + "metrics.json"
    attempts = sorted(each for each in tree.sizes if re.fullmatch(re.escape(root) + r"final_eval_\d+\.txt", each))
    has_model = any(each.startswith(root + "final_model/") for each in tree.sizes)
    run.logs += attempts
    if path not in tree and not attempts and not has_model:
        return
    claim = Claim(1, run.task, run.ended_at, run.used_s, "final_model")
    run.submissions.append(claim)
    if path not in tree:
        lines = tree.text(attempts[-1], 1 << 20).strip().splitlines() if attempts else []
        claim.error = (lines[-1] if lines else "The final evaluation left no metrics.json")[:300]
        text = f"{len(attempts)} attempts are kept; the last says “{claim.error}”. Read as not scored."
        findings.append(found("evaluation_failed", text, attempts[-1] if attempts else path))
        return
    try:
        told = table(json_load(tree.place(path), 1 << 20))
    except BadJson as error:
        findings.append(found("scores_unreadable", f"{path}: {error.text}", path))
        return
    claim.stated = told.get("accuracy")
    share = number(claim.stated)
    if share is None or not isinstance(claim.stated, (int, float)):
        findings.append(found("score_no_number", f"accuracy is {claim.stated!r:.80}.", path))
        return
    claim.score = share * 100
    spread = number(told.get("stderr"))
    claim.standard_error = None if spread is None else spread * 100
    run.understood[path] = f"accuracy {share:.4f}, read as {claim.score:.2f} of 100"


def _judgements(tree: Tree, root: str, run: RunFacts, findings: list[Finding]) -> None:
    for path in tree.sizes:
        below = path[len(root) :] if path.startswith(root) else ""
        if re.fullmatch(r"(\w+_judgement\.txt|judgement_\w+\.json)", below):
            said = " ".join(tree.text(path, 4000).split())[:300]
            run.understood[path] = "another judge's opinion, quoted"
            findings.append(found("judged_elsewhere", f"“{said}”", path))
    status = table(json_read(tree.place(root + "status.json"), 1 << 20)) if root + "status.json" in tree else {}
    if word(status.get("status")) == "failed":
        run.outcome = "failed"
        run.understood[root + "status.json"] = "the run failed"
        if whole(status.get("exit_code")) == 0:
            findings.append(
                found("status_contradicts", "status.json says “failed” with exit code 0.", root + "status.json")
            )


def _sort(tree: Tree, root: str, run: RunFacts) -> None:
    for path in tree.sizes:
        if not path.startswith(root) or path in run.understood or path in run.logs:
            continue
        below = path[len(root) :]
        if below == "solve_out.txt":
            run.transcripts.append(path)
        elif below.startswith("task/"):
            run.code.setdefault(0, {})[below[len("task/") :]] = path
        elif below == "cli_version.txt":
            match = re.search(r"\d+(\.\d+)+", tree.text(path, 1000))
            run.agent_version = match[0] if match else ""
            run.understood[path] = f"version {run.agent_version or 'not told'}"
        elif below.endswith(".log"):
            run.logs.append(path)
        elif below.startswith("final_model/"):
            run.ignored[path] = "of the checkpoint, which stays with its owner"
