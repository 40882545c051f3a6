"""A trajectory in Harbor's ATIF beside a list of scores."""

from __future__ import annotations

from bundles.dialects.facts import RunFacts
from bundles.dialects.values import moment, rows, table, whole, word
from bundles.dialects.workspace import scores_file
from bundles.format.jsonfile import BadJson, json_load
from bundles.format.tree import Tree
from bundles.rules.findings import Finding, found

ATIF_LIMIT = 64 << 20


def atif_is(tree: Tree, folder: str) -> bool:
    return bool(trajectories(tree, folder)) and folder + "run_meta.json" not in tree


def trajectories(tree: Tree, folder: str) -> list[str]:
    """ATIF documents right in `folder`."""
    return [name for name in tree.right_in(folder) if name.endswith(".json") and '"ATIF-v1' in tree.text(name, 400)]


def atif_read(tree: Tree, root: str, name: str) -> tuple[RunFacts, list[Finding]]:
    """See `workspace_read`."""
    run = RunFacts("atif", root=root.rstrip("/"))
    findings: list[Finding] = []
    run.transcripts = trajectories(tree, root)
    path = run.transcripts[0]
    try:
        document = table(json_load(tree.place(path), ATIF_LIMIT))
    except BadJson as error:
        findings.append(found("file_unreadable", f"{path}: {error.text}", path))
        document = {}
    agent = table(document.get("agent"))
    run.agent, run.agent_version = word(agent.get("name")), word(agent.get("version"))
    run.driver, run.run = word(agent.get("model_name")), word(document.get("session_id"))
    times = [time for step in rows(document.get("steps")) if (time := moment(table(step).get("timestamp")))]
    if times:
        run.started_at, run.ended_at = min(times), max(times)
        run.used_s = (run.ended_at - run.started_at).total_seconds()
    totals = table(document.get("final_metrics"))
    counts = [whole(totals.get(f"total_{kind}_tokens")) for kind in ("prompt", "completion")]
    if None not in counts:
        run.tokens = sum(count for count in counts if count is not None)
    run.understood[path] = f"{table(document).get('schema_version', 'ATIF')}: {len(rows(document.get('steps')))} steps"
    scores_file(tree, root + "scores.json", run, findings)
    _beside(tree, root, run)
    return run, findings


def _beside(tree: Tree, root: str, run: RunFacts) -> None:
    for path in tree.sizes:
        if not path.startswith(root) or path in run.understood or path in run.transcripts:
            continue
        below = path[len(root) :]
        if below.startswith("code/"):
            run.code.setdefault(0, {})[below[len("code/") :]] = path
        elif below.endswith(".log"):
            run.logs.append(path)
        elif below in ("summary.md", "summary.jsonl"):
            run.summaries.append(path)
        elif below.startswith("samples/"):
            run.samples.append(path)
