"""Our own bundles: everything is in the manifest, wherever the files lie."""

from __future__ import annotations

from typing import Any

from bundles.dialects.facts import Claim, RunFacts
from bundles.dialects.values import later, moment, number, numbered, rows, shallow, table, whole, word
from bundles.format.tree import Tree
from bundles.format.words import FORMAT, MANIFEST
from bundles.rules.findings import Finding


def agent2_is(tree: Tree, folder: str) -> bool:
    """A manifest of another program does not name the format."""
    path = folder + MANIFEST
    return path in tree and (tree.sizes[path] > 4 << 20 or FORMAT in tree.text(path, 4 << 20))


def agent2_read(manifest: dict[str, Any], root: str) -> tuple[RunFacts, list[Finding]]:
    """What a manifest says; its shape is checked elsewhere, here wrong shapes are nothing."""
    agent, driver, base = (table(manifest.get(key)) for key in ("agent", "driver", "base_model"))
    run = RunFacts("agent2", root=root.rstrip("/"), run=word(manifest.get("run")))
    run.task = word(manifest.get("task"))
    run.tasks = [word(task) for task in rows(manifest.get("tasks"))] or ([run.task] if run.task else [])
    run.protocol, run.mode = word(manifest.get("protocol")), word(manifest.get("mode"))
    run.agent, run.agent_version = word(agent.get("name")), word(agent.get("version"))
    run.driver, run.driver_version = word(driver.get("name")), word(driver.get("version"))
    run.base_model, run.base_revision = word(base.get("name")), word(base.get("revision"))
    run.base_digest = word(base.get("digest"))
    run.budget_s, run.used_s = number(manifest.get("budget_s")), number(manifest.get("used_s"))
    run.started_at, run.ended_at = moment(manifest.get("started_at")), moment(manifest.get("ended_at"))
    if run.used_s is None and run.started_at and run.ended_at:
        run.used_s = (run.ended_at - run.started_at).total_seconds()
    run.outcome, run.tokens = word(manifest.get("outcome")), whole(manifest.get("tokens"))
    run.cost_usd = number(manifest.get("cost_usd"))
    run.hardware = shallow(table(manifest.get("hardware")))
    run.seeds = [seed for seed in map(whole, rows(manifest.get("seeds"))) if seed is not None]
    run.baselines = {k: v for k, each in table(manifest.get("baselines")).items() if (v := number(each)) is not None}
    run.submissions = [_claim(table(entry), at, run) for at, entry in enumerate(rows(manifest.get("submissions")), 1)]
    run.claimed_best = number(manifest.get("best"))
    run.contact = {k: word(v) for k, v in table(manifest.get("contact")).items()}
    run.licence = word(manifest.get("licence"))
    run.redactions = [shallow(table(each), 2) for each in rows(manifest.get("redactions"))]
    run.manifest = {key: value for key, value in manifest.items() if key != "files"}
    _roles(manifest, root, run)
    run.understood[root + MANIFEST] = (
        f"format {manifest.get('version')}, {len(rows(manifest.get('files')))} files listed"
    )
    return run, []


def _claim(entry: dict[str, Any], index: int, run: RunFacts) -> Claim:
    stated = entry.get("score")
    is_number = isinstance(stated, (int, float)) and not isinstance(stated, bool)
    claim = Claim(
        number=numbered(entry.get("number"), index),
        task=word(entry.get("task")) or run.task,
        at=moment(entry.get("at")),
        elapsed_s=number(entry.get("elapsed_s")),
        model_path=word(entry.get("model_path"), 1024),
        score=number(stated) if is_number else None,
        standard_error=number(entry.get("standard_error")),
        stated=stated,
        error=word(entry.get("error"), 2000),
        error_code=word(entry.get("error_code")),
        digest=word(entry.get("digest")).lower(),
        grading_s=number(entry.get("grading_s")),
        improvement=number(entry.get("improvement")),
        tokens=whole(entry.get("tokens")),
        same_as=whole(entry.get("same_as")),
        method=word(entry.get("method")),
    )
    if claim.at is None and claim.elapsed_s is not None and run.started_at is not None:
        claim.at = later(run.started_at, claim.elapsed_s)
    if claim.elapsed_s is None and claim.at and run.started_at:
        claim.elapsed_s = (claim.at - run.started_at).total_seconds()
    return claim


def _roles(manifest: dict[str, Any], root: str, run: RunFacts) -> None:
    places = {"transcript": run.transcripts, "log": run.logs, "summary": run.summaries, "samples": run.samples}
    for entry in map(table, rows(manifest.get("files"))):
        path, role = root + word(entry.get("path"), 2000), word(entry.get("role"))
        if role == "code":
            number_ = whole(entry.get("submission")) or 0
            run.code.setdefault(number_, {})[word(entry.get("name"), 2000) or path] = path
        elif role in places:
            places[role].append(path)
        elif role in ("metadata", "prompt"):
            run.understood[path] = "as its layout has it" if role == "metadata" else "what the agent was told"
        else:
            run.ignored[path] = "of no role that is read"
