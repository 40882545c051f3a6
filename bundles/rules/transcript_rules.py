"""The transcripts against the run that they are said to be of."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from bundles.dialects.values import iso, later
from bundles.rules.case import Case
from bundles.rules.findings import Finding, found
from bundles.rules.transcripts import TranscriptFacts

BASE_MENTIONS = 5
SLACK = timedelta(hours=26)
"""A day and a zone: times without a zone are read as UTC."""
TOKEN_SHARE = 0.02


def transcript_findings(case: Case) -> Iterator[Finding]:
    for facts in case.transcripts:
        yield from _one_transcript(case, facts)
    yield from _submits(case)
    yield from _circles(case)
    yield from _token_sums(case)


def _one_transcript(case: Case, facts: TranscriptFacts) -> Iterator[Finding]:
    if not facts.size:
        yield found("transcript_empty", "It has no bytes.", facts.path)
        return
    if not facts.kind:
        yield found("transcript_unknown", "Nothing is lost: every line is kept.", facts.path)
    if facts.cut:
        yield found("transcript_cut", "Runs that are killed at their limit end so.", facts.path)
    if facts.backwards:
        yield found("transcript_skew", f"{facts.backwards} times, by more than 5 minutes.", facts.path)
    yield from _other_run(case, facts)
    yield from _when(case, facts)
    if facts.held_out:
        line, text = facts.held_out[0]
        more = f" {len(facts.held_out)} places in all." if len(facts.held_out) > 1 else ""
        yield found(
            "held_out_mentioned", f"“{text[:200]}”.{more}", f"{facts.path}, line {line}" if line else facts.path
        )


def _other_run(case: Case, facts: TranscriptFacts) -> Iterator[Finding]:
    base = case.run.base_model.rsplit("/", 1)[-1].lower()
    if not base or not facts.bases:
        return
    named = sum(count for name, count in facts.bases.items() if name.startswith(base) or base.startswith(name))
    other, count = facts.bases.most_common(1)[0]
    if not named and count >= BASE_MENTIONS:
        text = f"It names {other} {count} times and never {case.run.base_model}, which the run says it starts from."
        yield found("transcript_other_run", text, facts.path)


def _when(case: Case, facts: TranscriptFacts) -> Iterator[Finding]:
    run = case.run
    if not (facts.first_at and facts.last_at and run.started_at):
        return
    end = run.ended_at or later(run.started_at, run.budget_s)
    if facts.last_at < run.started_at - SLACK or (end and facts.first_at > end + SLACK):
        text = f"It is of {iso(facts.first_at)} to {iso(facts.last_at)}; the run starts {iso(run.started_at)}."
        yield found("transcript_outside", text, facts.path)


def _submits(case: Case) -> Iterator[Finding]:
    count = len(case.run.submissions)
    read = [facts for facts in case.transcripts if facts.size]
    if not case.submits_itself or not count or not read or any(facts.submits for facts in read):
        return
    text = f"{count} submissions are listed; no call of the transcript names /submit."
    yield found("transcript_never_submits", text, read[0].path)


def _circles(case: Case) -> Iterator[Finding]:
    edges: dict[str, list[str]] = {}
    for facts in case.transcripts:
        for first, second in facts.edges:
            edges.setdefault(first, []).append(second)
    circle = _circle(edges)
    if circle is not None:
        yield found("trajectory_cycle", " → ".join(circle[:8]) + ".", case.transcripts[0].path)


def _circle(edges: dict[str, list[str]]) -> list[str] | None:
    """Some way that leads back to where it began, without recursion and in one pass."""
    done: set[str] = set()
    for start in edges:
        path: dict[str, None] = {}
        waiting = [iter([start])]
        while waiting:
            node = next(waiting[-1], None)
            if node is None:
                waiting.pop()
                if path:
                    done.add(path.popitem()[0])
            elif node in path:
                way = list(path)
                return [*way[way.index(node) :], node]
            elif node not in done:
                path[node] = None
                waiting.append(iter(edges.get(node, ())))
    return None


def _token_sums(case: Case) -> Iterator[Finding]:
    for facts in case.transcripts:
        total, summed = facts.tokens, facts.tokens_summed
        if total is not None and summed is not None and _apart(total, summed):
            text = f"Its totals say {total:,}; its steps add up to {summed:,}."
            yield found("tokens_differ", text, facts.path)
    known = [facts.tokens for facts in case.transcripts]
    told = case.run.tokens
    if told is not None and known and all(each is not None for each in known):
        total = sum(each for each in known if each is not None)
        if _apart(told, total):
            yield found("tokens_differ", f"The run says {told:,}; its transcripts say {total:,}.", "tokens")


def _apart(first: int, second: int) -> bool:
    return abs(first - second) > max(10, TOKEN_SHARE * max(first, second))
