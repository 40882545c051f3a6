"""The websocket of a run, for every role: what is hidden closes as what is not there."""

from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import channel_layers
from django.conf import settings
from django.test import Client

from benchmark.models import EventKind, Run
from benchmark.services.events import event_record
from frontend.consumers import UNKNOWN_RUN
from tests.db.frontend.access_rules import ACTORS, IN, shown
from tests.db.frontend.live_socket import Socket
from tests.support.people import person
from tests.support.rows import run_row

pytestmark = pytest.mark.django_db(transaction=True)


@database_sync_to_async
def world(actor: str) -> tuple[dict[bool, Run], str]:
    """A shown and a hidden run by the owner, and the actor's session."""
    channel_layers.backends.clear()
    people = {name: person(name, "submitter" if name == "owner" else name) for name in {actor, "owner"} - {"anonymous"}}
    runs = {hidden: run_row(hidden=hidden, created_by=people["owner"]) for hidden in (False, True)}
    for run in runs.values():
        event_record(run.pk, EventKind.RUN_STEP, text="on")
    if actor == "anonymous":
        return runs, ""
    client = Client()
    client.force_login(people[actor])
    return runs, client.cookies[settings.SESSION_COOKIE_NAME].value


@pytest.mark.parametrize("actor", ACTORS)
async def test_who_may_watch(actor: str) -> None:
    runs, session = await world(actor)
    for hidden, run in runs.items():
        socket: Any = Socket(f"/ws/runs/{run.slug}/", session=session)
        assert await socket.connect()
        if shown(actor, hidden) == IN:
            await socket.after(0)
            assert (await socket.batch())["events"][0]["data"] == {"text": "on"}
        else:
            assert await socket.closed() == UNKNOWN_RUN
        await socket.disconnect()
