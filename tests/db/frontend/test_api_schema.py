"""The API held to its own schema: whatever is sent, a fault is never the answer, and good answers have their shape."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.db import transaction
from django.test import Client, override_settings
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from benchmark.models import EventKind
from benchmark.services.events import event_record
from tests.support.people import person, with_token
from tests.support.rows import baseline_row, graded_row, run_row

requests: Any = pytest.importorskip("requests")  # schemathesis needs it
pytestmark = pytest.mark.django_db
EXAMPLES = 8
"""For each operation, person and kind of input."""
QUICK = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def api(db: None) -> Iterator[Any]:
    """The schema over a few runs, one of which is named in the addresses that need one."""
    for score in (10.0, 20.0):
        run = run_row(slug=f"run-{score:.0f}", base_digest=f"{int(score):064d}")
        baseline_row(run, 5.0)
        graded_row(run, score)
        event_record(run.pk, EventKind.RUN_STEP, text="on")
    with override_settings(API_PER_MINUTE_ANONYMOUS=0, API_PER_MINUTE_USER=0):
        yield schemathesis.openapi.from_dict(Client().get("/api/v1/schema/?format=json").json())


def operations(api: Any) -> Iterator[Any]:
    for found in api.get_all_operations():
        yield found.ok()


@pytest.mark.parametrize("mode", ["positive", "negative"])
@pytest.mark.parametrize("who", ["anonymous", "admin"])
def test_no_input_is_a_fault(api: Any, mode: str, who: str) -> None:
    """What follows the schema, and what breaks it; from nobody, and from somebody who may do everything."""
    client = Client(raise_request_exception=False)
    if who == "admin":
        client = with_token(person("anna", "admin"), "read", "submit", "operate", "annotate")
        client.raise_request_exception = False
    statuses: Counter[int] = Counter()
    for operation in operations(api):
        cases = operation.as_strategy(generation_mode=schemathesis.GenerationMode(mode))
        try:
            _try(client, cases, statuses)
        except Unsatisfiable:
            continue  # nothing can be wrong with this one
    assert statuses[200] or mode == "negative"
    assert any(400 <= status < 500 for status in statuses)


def _try(client: Client, cases: Any, statuses: Counter[int]) -> None:
    @QUICK
    @given(case=cases)
    def tried(case: Any) -> None:
        if len(str(case.path_parameters.get("slug", ""))) % 2:
            case.path_parameters["slug"] = "run-10"
        sent = requests.Request(**case.as_transport_kwargs(base_url="http://testserver")).prepare()
        body = sent.body.encode() if isinstance(sent.body, str) else sent.body or b""
        with transaction.atomic():
            headers: Any = {name: value for name, value in sent.headers.items() if name.lower() != "authorization"}
            kind = headers.pop("Content-Type", "application/json")
            headers = {
                name: value for name, value in headers.items() if name not in ("Content-Length", "Accept-Encoding")
            }
            answer = client.generic(str(sent.method), sent.path_url, body, content_type=kind, headers=headers)
            transaction.set_rollback(True)
        statuses[answer.status_code] += 1
        assert answer.status_code < 500, f"{sent.method} {sent.path_url} {body!r}: {answer.content[:500]!r}"
        if answer.status_code == 200 and answer.headers["Content-Type"] == "application/json":
            case.operation.validate_response(
                schemathesis.Response(
                    200, {"content-type": ["application/json"]}, answer.content, sent, elapsed=0.0, verify=False
                )
            )

    tried()
