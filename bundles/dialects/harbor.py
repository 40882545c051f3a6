"""Harbor's trials: one agent, one task, one verification at the end. A job directory holds several."""

from __future__ import annotations

from typing import Any

from bundles.dialects.facts import Claim, RunFacts
from bundles.dialects.values import moment, number, table, whole, word
from bundles.format.jsonfile import BadJson, json_load, json_read
from bundles.format.tree import Tree
from bundles.rules.findings import Finding, found

RESULT_LIMIT = 16 << 20


def harbor_is(tree: Tree, folder: str) -> bool:
    """A trial's folder: a job's `result.json` names no task."""
    path = folder + "result.json"
    if path not in tree or tree.sizes[path] > RESULT_LIMIT:
        return False
    return {"task_name", "trial_name"} <= table(json_read(tree.place(path), RESULT_LIMIT)).keys()


def harbor_read(tree: Tree, root: str, name: str) -> tuple[RunFacts, list[Finding]]:
    """See `workspace_read`. Rewards are shares of 1: they are read as hundredths."""
    run = RunFacts("harbor", root=root.rstrip("/"))
    findings: list[Finding] = []
    path = root + "result.json"
    try:
        result = table(json_load(tree.place(path), RESULT_LIMIT))
    except BadJson as error:
        return run, [found("scores_unreadable", f"{path}: {error.text}", path)]
    config = table(result.get("config"))
    run.run = word(result.get("trial_name"))
    run.task = word(result.get("task_name")).rsplit("/", 1)[-1]
    run.tasks = [run.task] if run.task else []
    _agent(run, table(result.get("agent_info")), table(config.get("agent")))
    _spans(run, result, config)
    _token_count(run, table(result.get("agent_result")))
    _reward(tree, root, run, result, findings)
    run.understood[path] = f"trial {run.run}: " + ("scored" if run.scored else "not scored")
    _arrange(tree, root, run)
    return run, findings


def _agent(run: RunFacts, info: dict[str, Any], config: dict[str, Any]) -> None:
    run.agent, run.agent_version = word(info.get("name")), word(info.get("version"))
    model = table(info.get("model_info"))
    run.driver = word(model.get("name")) or word(config.get("model_name"))
    kwargs = table(config.get("kwargs"))
    run.base_model = word(kwargs.get("base_model"))
    run.budget_s = number(config.get("override_timeout_sec")) or number(config.get("max_timeout_sec"))


def _spans(run: RunFacts, result: dict[str, Any], config: dict[str, Any]) -> None:
    span = table(result.get("agent_execution")) or result
    run.started_at, run.ended_at = moment(span.get("started_at")), moment(span.get("finished_at"))
    if run.started_at and run.ended_at:
        run.used_s = (run.ended_at - run.started_at).total_seconds()
    environment = table(config.get("environment"))
    gpus, cpus = whole(environment.get("override_gpus")), whole(environment.get("override_cpus"))
    run.hardware = {key: value for key, value in (("gpu_count", gpus), ("cpus", cpus)) if value is not None}


def _token_count(run: RunFacts, told: dict[str, Any]) -> None:
    counts = [whole(told.get(key)) for key in ("n_input_tokens", "n_output_tokens")]
    if None not in counts:
        run.tokens = sum(count for count in counts if count is not None)


def _reward(tree: Tree, root: str, run: RunFacts, result: dict[str, Any], findings: list[Finding]) -> None:
    rewards = table(table(result.get("verifier_result")).get("rewards"))
    raised = table(result.get("exception_info"))
    error = word(raised.get("exception_message"), 2000) or word(raised.get("exception_type"))
    run.outcome = "failed" if raised else "finished"
    if "timeout" in word(raised.get("exception_type")).lower():
        run.outcome = "timed_out"
    stated = rewards.get("reward", next(iter(rewards.values()), None))
    claim = Claim(1, run.task, run.ended_at, run.used_s, "final", stated=stated, error=error if stated is None else "")
    run.submissions.append(claim)
    _kept_reward(tree, root, stated, findings)
    share = number(stated)
    if stated is None:
        findings.append(
            found("evaluation_failed", f"“{error or 'no reward'}”. Read as not scored.", root + "result.json")
        )
    elif share is None or isinstance(stated, str):
        findings.append(found("score_no_number", f"The reward is {stated!r:.80}.", root + "result.json"))
    elif 0 <= share <= 1:
        claim.score = share * 100
        findings.append(
            found("reward_as_share", f"Reward {share:g} was read as {share * 100:g} of 100.", root + "result.json")
        )
    else:
        claim.score = share


def _kept_reward(tree: Tree, root: str, stated: Any, findings: list[Finding]) -> None:
    path = root + "verifier/reward.txt"
    if path in tree and (kept := number(tree.text(path, 100).strip())) != number(stated):
        text = f"{path} says {kept}, result.json says {stated}."
        findings.append(found("reward_differs", text, path))


def _arrange(tree: Tree, root: str, run: RunFacts) -> None:
    for path in tree.sizes:
        if not path.startswith(root) or path in run.understood:
            continue
        below = path[len(root) :]
        if below.startswith("agent/") and below.endswith((".json", ".jsonl", ".txt", ".traj")):
            run.transcripts.append(path)
        elif below.startswith("artifacts/"):
            run.code.setdefault(0, {})[below[len("artifacts/") :]] = path
        elif below.endswith((".log", ".txt")):
            run.logs.append(path)
        elif below == "config.json":
            run.understood[path] = "the trial's settings"
    best = [path for path in run.transcripts if path.endswith("trajectory.json")]
    if best:
        run.logs += [path for path in run.transcripts if path not in best]
        run.transcripts = best
