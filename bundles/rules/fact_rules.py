"""Who, what and with what: what every run must or should say of itself."""

from __future__ import annotations

from collections.abc import Iterator

from bundles.format.words import MODES
from bundles.rules.case import Case
from bundles.rules.findings import Finding, found


def fact_findings(case: Case) -> Iterator[Finding]:
    run = case.run
    needed = (
        ("task_missing", run.task, "It could be told neither from a file nor from a folder's name."),
        ("agent_missing", run.agent, "It could be told neither from a file nor from a folder's name."),
        ("base_missing", run.base_model, "It could not be told from any file."),
        ("agent_version_missing", run.agent_version, "Another version may well behave differently."),
        ("driver_missing", run.driver, "The agent's LLM decides more than the agent."),
        ("revision_missing", run.base_revision or run.base_digest, "Repositories of weights change under one name."),
        ("mode_missing", run.mode, "What the instructions allowed is not told."),
        ("budget_missing", run.budget_s, "Whether the run kept to it cannot be checked."),
        ("hardware_missing", run.hardware, "An hour on one GPU is not an hour on eight."),
        ("seeds_missing", run.seeds, "Nobody can repeat the run exactly."),
        ("contact_missing", any(run.contact.values()), "A bundle can be checked without it, and cannot be published."),
        ("licence_missing", run.licence, "A bundle can be checked without it, and cannot be published."),
        ("transcript_missing", run.transcripts, "Nobody can see how the scores were reached."),
        ("code_missing", run.code, "The route, SFT or RL, cannot be told from code."),
        ("samples_missing", run.samples, "The interval of a score cannot be computed; its standard error can."),
    )
    for code, value, text in needed:
        if not value:
            yield found(code, text, "manifest" if code.endswith("_missing") and run.manifest else "")
    if run.mode and run.mode not in MODES:
        yield found("mode_unknown", f"{run.mode!r:.60}.", "mode")
    if not any(claim.digest for claim in run.submissions) and run.submissions:
        text = (
            "Without one the score stays checked at best: nobody can show that a later upload is the same checkpoint."
        )
        yield found("digests_missing", text)
    yield from _against_known(case)


def _against_known(case: Case) -> Iterator[Finding]:
    run, known = case.run, case.known
    for task in run.tasks:
        if known.tasks and task not in known.tasks:
            yield found("task_unknown", f"{task!r:.80} is none of {', '.join(sorted(known.tasks))}.", "task")
    ranked = known.tasks.get(run.task, "")
    if not run.protocol:
        yield found("protocol_missing", "Which grader gave the scores is not told; they are ranked apart.")
    elif ranked and run.protocol != ranked:
        yield found("protocol_differs", f"{run.protocol}; ranked here is {ranked}.", "protocol")
    if known.base_models and run.base_model and run.base_model not in known.base_models:
        short = {name.rsplit("/", 1)[-1].lower(): name for name in known.base_models}
        near = short.get(run.base_model.rsplit("/", 1)[-1].lower())
        hint = f" Is it {near}?" if near else ""
        yield found("base_unknown", f"{run.base_model} is not installed here, so nothing can be re-graded.{hint}")
