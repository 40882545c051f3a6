"""Who gets through where: one line for each address of the site. `test_access.py` holds the site to it.

An outcome is `in` (answered, or refused only for what was sent), `sign in`, `forbidden`, `absent` or `method`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

IN, SIGN_IN, FORBIDDEN, ABSENT, METHOD = "in", "sign in", "forbidden", "absent", "method"
ACTORS = ("anonymous", "visitor", "submitter", "researcher", "operator", "admin", "owner")
"""The owner is a submitter who owns what is hidden."""
Rule = Callable[[str, bool], str]
"""Actor, and whether the object is hidden, to the outcome."""


def public(actor: str, hidden: bool) -> str:
    """For everybody; no object, or one that is never hidden."""
    return IN


def shown(actor: str, hidden: bool) -> str:
    """What is hidden is for its owner and moderators, and absent to all others."""
    return IN if not hidden or actor in ("owner", "admin") else ABSENT


def signed_in(actor: str, hidden: bool) -> str:
    return SIGN_IN if actor == "anonymous" else IN


def signed_in_shown(actor: str, hidden: bool) -> str:
    return SIGN_IN if actor == "anonymous" else shown(actor, hidden)


def owners(actor: str, hidden: bool) -> str:
    """The owner alone, whatever role others have."""
    return SIGN_IN if actor == "anonymous" else IN if actor == "owner" else ABSENT


def nobody(actor: str, hidden: bool) -> str:
    return METHOD


def needs(*roles: str) -> Rule:
    """One of the roles; admins always."""

    def rule(actor: str, hidden: bool) -> str:
        if actor == "anonymous":
            return SIGN_IN
        return IN if actor in (*roles, "admin") else FORBIDDEN

    return rule


def needs_shown(*roles: str) -> Rule:
    """One of the roles, and an object that they may see."""
    role = needs(*roles)

    def rule(actor: str, hidden: bool) -> str:
        told = role(actor, hidden)
        return shown(actor, hidden) if told == IN else told

    return rule


def changes(actor: str, hidden: bool) -> str:
    """The owner of the object and moderators; to others it is as absent as when they could not see it."""
    if actor == "anonymous":
        return SIGN_IN
    return IN if actor in ("owner", "admin") else ABSENT


def withheld(actor: str, hidden: bool) -> str:
    """The owner of the object and moderators; absent to others, signed in or not."""
    return IN if actor in ("owner", "admin") else ABSENT


def changes_told(*actors: str) -> Rule:
    """These actors; those who see the object are told that they may not change it."""

    def rule(actor: str, hidden: bool) -> str:
        if actor == "anonymous":
            return SIGN_IN
        return IN if actor in actors else FORBIDDEN if shown(actor, hidden) == IN else ABSENT

    return rule


def kept(actor: str, hidden: bool) -> str:
    """For operators; others are told that there is nothing."""
    return IN if actor in ("operator", "admin") else ABSENT


OPERATORS, RESEARCHERS, ADMINS = needs("operator"), needs("researcher"), needs()


@dataclass(frozen=True)
class Access:
    """The rules of reading and of posting; `query` is what reading needs, `body` what is posted."""

    get: Rule
    post: Rule = nobody
    query: str = ""
    body: str = "{}"


RUN = "runs/<slug:slug>/"
SUBMISSION = f"{RUN}submissions/"
EVENT = f"{RUN}trace/<slug:key>/<int:seq>/"
API = "api/v1/"
BUNDLE = "bundles/<slug:slug>/"
PAGES: Mapping[str, Access] = {
    "healthz": Access(public),
    "metrics": Access(kept),
    "": Access(public),
    "leaderboard.csv": Access(public),
    "leaderboard.json": Access(public),
    "leaderboard.tex": Access(public),
    "tasks/": Access(public),
    "tasks/designs.json": Access(public),
    "tasks/<slug:task_id>/": Access(public),
    "tasks/<slug:task_id>/scores.json": Access(public),
    "runs/": Access(public),
    "runs/new": Access(OPERATORS, OPERATORS),
    "runs/new/cost/": Access(OPERATORS),
    "runs/active/": Access(public),
    RUN: Access(shown),
    f"{RUN}fragment/": Access(shown),
    f"{RUN}fragment/<slug:piece>/": Access(shown),
    f"{RUN}curve/": Access(shown),
    f"{RUN}submissions/": Access(shown),
    f"{SUBMISSION}<int:number>/records/": Access(shown),
    f"{SUBMISSION}<int:number>/again/": Access(nobody, needs_shown("operator")),
    f"{RUN}routes/": Access(shown),
    f"{RUN}artifacts/": Access(shown),
    f"{RUN}integrity/": Access(shown),
    f"{RUN}configuration/": Access(shown),
    f"{RUN}cite.bib": Access(shown),
    f"{RUN}^trace/(?P<key>[0-9a-f]{{32}})/whole\\.(?P<form>jsonl|atif\\.json|log)$": Access(shown),
    f"{RUN}curve.json": Access(shown),
    f"{RUN}submissions.csv": Access(shown),
    f"{RUN}cancel/": Access(needs("operator"), needs_shown("operator")),
    f"{RUN}trace/": Access(shown),
    f"{RUN}trace/rows.json": Access(shown),
    f"{RUN}trace/search.json": Access(shown, query="q=one"),
    f"{RUN}trace/place.json": Access(shown, query="to=1"),
    f"{RUN}trace/outline/": Access(shown),
    EVENT: Access(shown),
    f"{EVENT}raw": Access(shown),
    f"{RUN}report.md": Access(shown),
    f"{SUBMISSION}<int:a>..<int:b>/diff": Access(shown),
    f"{SUBMISSION}<int:number>/labels/": Access(shown),
    f"{SUBMISSION}<int:number>/labels/correct/": Access(RESEARCHERS, needs_shown("researcher")),
    "compare": Access(public),
    "compare/curve.json": Access(public),
    "compare/points.csv": Access(public),
    "compare/measures.tex": Access(public),
    "analyses/": Access(public),
    "analyses/<slug:name>/": Access(public),
    "analyses/<slug:name>/figure.json": Access(public),
    "analyses/^(?P<name>[a-z-]+)/table\\.(?P<ending>csv|tex)$": Access(public),
    "annotate/": Access(RESEARCHERS),
    "annotate/queues/": Access(RESEARCHERS, RESEARCHERS),
    "annotate/queues/<int:pk>/next/": Access(RESEARCHERS, RESEARCHERS),
    f"{RUN}annotate/": Access(needs_shown("researcher"), needs_shown("researcher")),
    f"{RUN}annotate/submit/": Access(RESEARCHERS, needs_shown("researcher")),
    f"{RUN}annotate/release/": Access(RESEARCHERS, needs_shown("researcher")),
    f"{RUN}annotate/decide/": Access(RESEARCHERS, needs_shown("researcher")),
    "agreement/": Access(RESEARCHERS),
    "queue/": Access(public),
    "queue/workers/<int:pk>/drain/": Access(OPERATORS, OPERATORS),
    "account/": Access(signed_in),
    "account/password/": Access(signed_in, signed_in),
    "account/tokens/": Access(signed_in, signed_in),
    "account/tokens/<int:pk>/revoke/": Access(signed_in, owners),
    "accounts/": Access(ADMINS),
    "accounts/new/": Access(ADMINS, ADMINS),
    "accounts/<int:pk>/": Access(ADMINS, ADMINS),
    "audit/": Access(ADMINS),
    "login/": Access(public, public),
    "logout/": Access(nobody, public),
    "bundles/": Access(public),
    "bundles/new": Access(signed_in),
    "bundles/agent2_pack.py": Access(public),
    "bundles/manifest-1.0.schema.json": Access(public),
    "bundles/of/<slug:slug>.zip": Access(signed_in_shown),
    "bundles/moderation/": Access(ADMINS),
    BUNDLE: Access(shown),
    f"{BUNDLE}report.json": Access(shown),
    f"{BUNDLE}archive": Access(withheld),
    f"{BUNDLE}terms/": Access(signed_in, changes),
    f"{BUNDLE}appeal/": Access(signed_in, owners),
    f"{BUNDLE}similar/": Access(ADMINS),
    f"{BUNDLE}moderate/": Access(ADMINS, ADMINS),
    f"{BUNDLE}appeals/<int:pk>/": Access(ADMINS, ADMINS),
    "notifications/": Access(signed_in),
    "notifications/read/": Access(signed_in, signed_in),
}
PROGRAMS: Mapping[str, Access] = {
    API: Access(public),
    f"{API}schema/": Access(public),
    f"{API}leaderboard/": Access(public),
    f"{API}analyses/": Access(public),
    f"{API}analyses/<slug:name>/": Access(public),
    f"{API}tasks/": Access(public),
    f"{API}tasks/<str:task>/": Access(public),
    f"{API}agents/": Access(public),
    f"{API}agents/<str:agent>/": Access(public),
    f"{API}runs/": Access(public, OPERATORS),
    f"{API}{RUN}": Access(shown),
    f"{API}{RUN}cancel/": Access(nobody, needs_shown("operator")),
    f"{API}{RUN}rerun/": Access(nobody, needs_shown("operator")),
    f"{API}{RUN}submissions/": Access(shown),
    f"{API}{RUN}events/": Access(shown),
    f"{API}{RUN}points/": Access(shown),
    f"{API}{RUN}integrity/": Access(shown),
    f"{API}{RUN}metrics/": Access(shown),
    f"{API}{RUN}labels/": Access(shown, needs_shown("researcher")),
    f"{API}queue/": Access(public),
    f"{API}queue/cost/": Access(public, query="task=arithmetic&base_model=tiny&budget_s=60"),
    f"{API}workers/": Access(public),
    f"{API}annotations/": Access(needs_shown("researcher"), RESEARCHERS, query="run={slug}"),
    f"{API}annotations/submit": Access(nobody, RESEARCHERS),
    f"{API}annotations/export": Access(RESEARCHERS),
    f"{API}bundles/": Access(public),
    f"{API}{BUNDLE}": Access(shown),
    f"{API}{BUNDLE}terms/": Access(nobody, changes_told("owner", "admin")),
    f"{API}{BUNDLE}appeal/": Access(nobody, changes_told("owner")),
    f"{API}{BUNDLE}moderate/": Access(nobody, ADMINS),
    f"{API}notifications/": Access(signed_in, signed_in),
}
RULES: Mapping[str, Access] = {**PAGES, **PROGRAMS}
PARTS = ("submit", "health", "time", "submissions", "submissions/<int:number>")
GRADING = [
    *(f"grading/<str:token>/{part}" for part in (*PARTS, "set_baseline", "<path:rest>")),
    *(f"grading/<str:token>/tasks/<str:task>/{part}" for part in PARTS),
]
ELSEWHERE = {
    **dict.fromkeys(GRADING, "tests/db/grading/test_submit_api.py"),
    "worker/join": "tests/db/operating/test_hosts.py",
    "worker/records/<path:place>": "tests/db/operating/test_hosts.py",
    "bundles/upload/": "tests/db/bundles",
    "bundles/upload/<str:key>/": "tests/db/bundles",
    f"{EVENT}images/<int:number>": "tests/db/frontend/test_trace.py",
}
"""Addresses with methods, secrets or objects of their own, and the tests that try their people."""
