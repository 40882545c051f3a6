"""The people and objects that addresses are tried with: everything once shown and once hidden."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from benchmark.models import Run, RunState, Worker
from benchmark.services.tokens import token_create
from bundles.models import Appeal, Bundle, BundleState
from tests.db.frontend.access_rules import ACTORS
from tests.support.people import person
from tests.support.rows import baseline_row, graded_row, run_row
from tests.support.transcripts import Script
from traces.models import CodeSnapshot, LabellingQueue
from traces.services.ingest import trace_import

PLAIN = {
    "^(?P<name>[a-z-]+)/table\\.(?P<ending>csv|tex)$": "{name}/table.csv",
    "^trace/(?P<key>[0-9a-f]{32})/whole\\.(?P<form>jsonl|atif\\.json|log)$": "trace/{key}/whole.jsonl",
}
"""Addresses for those routes that are expressions."""


@dataclass
class World:
    """`keys` are values of path converters, for what is shown and for what is hidden."""

    people: dict[str, User] = field(default_factory=dict)
    keys: dict[bool, dict[str, str]] = field(default_factory=dict)

    def client(self, actor: str) -> Client:
        client = Client(raise_request_exception=False)
        if actor != "anonymous":
            client.force_login(self.people[actor])
        return client

    def path(self, route: str, hidden: bool) -> str:
        """An address of that route."""
        keys = self.keys[hidden] | {"slug": self.keys[hidden]["bundle" if "bundles/<" in route else "run"]}
        keys |= {"pk": keys["account"] if route.startswith("accounts/") else keys["pk"]}
        keys["pk"] = keys["token"] if "tokens/" in route else keys["appeal"] if "appeals/" in route else keys["pk"]
        route = re.sub(r"^annotate/queues/<int:pk>", f"annotate/queues/{keys['queue']}", route)
        route = re.sub(r"<\w+:(\w+)>", lambda match: keys[match[1]], route)
        for pattern, value in PLAIN.items():
            route = route.replace(pattern, value.format(**keys))
        return "/" + route


def world_make(folder: Path) -> World:
    world = World()
    for actor in ACTORS[1:]:
        world.people[actor] = person(actor, "submitter" if actor == "owner" else actor)
    worker = Worker.objects.create(name="host/1", host="host")
    queue = LabellingQueue.objects.create(name="queue", annotators=1)
    token, _ = token_create(user=world.people["owner"], name="mine", scopes=["read"])
    common = {"task_id": "arithmetic", "task": "arithmetic", "agent": "example", "token": str(token.pk)}
    common |= {"seq": "1", "a": "0", "b": "1", "number": "1", "queue": str(queue.pk), "pk": str(worker.pk)}
    common |= {"name": "improvement", "piece": "curve"}
    common["account"] = str(world.people["visitor"].pk)
    for hidden in (False, True):
        run, key = _run(folder, hidden, world.people["owner"])
        bundle = _bundle(run, hidden, world.people["owner"])
        appeal = Appeal.objects.create(bundle=bundle, author=world.people["owner"], text="again")
        world.keys[hidden] = common | {"appeal": str(appeal.pk)} | {"run": run.slug, "key": key, "bundle": bundle.slug}
    return world


def _run(folder: Path, hidden: bool, owner: User) -> tuple[Run, str]:
    """An ended run with a score, its code and its transcript, and the transcript's key."""
    facts: dict[str, Any] = {"state": RunState.FINISHED, "ended_at": timezone.now(), "lease": ""}
    run = run_row(hidden=hidden, created_by=owner, base_digest=f"{int(hidden):064d}", **facts)
    baseline_row(run, 10.0)
    graded_row(run, 20.0)
    CodeSnapshot.objects.create(run=run, number=1, model_path="output/v1")
    script = Script()
    script.say("one")
    path = folder / f"transcript-{hidden}.jsonl"
    path.write_bytes(script.data)
    return run, trace_import(run, path).key


def _bundle(run: Run, hidden: bool, owner: User) -> Bundle:
    state = BundleState.ACCEPTED if hidden else BundleState.PUBLISHED
    facts: dict[str, Any] = {"filename": "run.zip", "size": 3, "sha256": "c" * 64, "stored": f"run-{hidden}.zip"}
    bundle = Bundle.objects.create(owner=owner, state=state, run=run, **facts)
    bundle.path.parent.mkdir(parents=True, exist_ok=True)
    bundle.path.write_bytes(b"zip")
    return bundle
