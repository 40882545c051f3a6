"""The grading API: what an agent in its sandbox can ask. The URL carries the run's secret."""

import logging
import re
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from channels.db import database_sync_to_async
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from benchmark.catalogue import task_slug
from benchmark.models import Run, secret_hash
from grading.api.answers import health_answer, run_standings, submission_answer, submission_status, time_answer
from grading.api.body import BadRequest, submit_body
from grading.api.waiting import submission_ended
from grading.models import Submission
from grading.services.submissions import SubmissionsClosed, submission_receive

log = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")
LOOPBACK = re.compile(r"127\.0\.0\.1:\d{1,5}")
AsyncView = Callable[..., Coroutine[Any, Any, JsonResponse]]


def _error(message: str, status: int) -> JsonResponse:
    return JsonResponse({"error": message}, status=status)


def _away() -> JsonResponse:
    """The gateway of the sandbox asks again for as long as it says `Retry-After`."""
    answer = _error("The platform's database does not answer. Ask again in a moment.", 503)
    answer["Retry-After"] = "2"
    return answer


def _run_of(token: str) -> Run:
    try:
        return Run.objects.get(token_hash=secret_hash(token))
    except Run.DoesNotExist:
        raise BadRequest("No run has this URL: use $GRADING_SERVER_URL as it was given.", 404) from None


def task_of(run: Run, named: str, *, needed: bool = False) -> str:
    """Which task is meant, as submissions name it: empty in a run with only one.

    `named`: a task's id, or its slug as it stands in URLs. Raises: BadRequest: it is none of the run's, or `needed`.
    """
    known = {slug: task for task in run.tasks for slug in (task, task_slug(task))}
    if named and named not in known:
        raise BadRequest(f"{named!r} is no task of this run; its tasks are {', '.join(run.tasks)}.", 404)
    if needed and not named and run.task_list:
        first = task_slug(run.tasks[0])
        raise BadRequest(
            f"This run has several tasks: {', '.join(run.tasks)}. Submit to …/tasks/<task>/submit, such as "
            f'…/tasks/{first}/submit, or name one as "task".'
        )
    return run.task_named(known[named]) if named else ""


def answering(*methods: str) -> Callable[[AsyncView], AsyncView]:
    """Turn what a view raises into a JSON answer that says what to do; only `methods` are let in."""

    def decorate(view: AsyncView) -> AsyncView:
        @csrf_exempt
        @wraps(view)
        async def answer(request: HttpRequest, token: str, **kwargs: Any) -> JsonResponse:
            if request.method not in methods:
                return _error(f"Use {' or '.join(methods)} here.", 405)
            try:
                return await view(request, token, **kwargs)
            except BadRequest as error:
                return _error(str(error), error.status)
            except SubmissionsClosed as error:
                return _error(str(error), 409)
            except (OperationalError, InterfaceError) as error:
                log.warning("a request of an agent found no database: %s", error)
                return _away()

        return answer

    return decorate


def _in_thread(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """Run database work in a pooled thread, its connection given back afterwards."""
    return cast(Callable[P, Awaitable[T]], database_sync_to_async(function, thread_sensitive=False))


def _url(request: HttpRequest, token: str) -> str:
    """The run's URL as the client reaches it, which behind a sandbox's gateway is another host."""
    host = request.headers.get("X-Forwarded-Host", "")
    if LOOPBACK.fullmatch(host):
        return f"http://{host}/grading/{token}"
    return request.build_absolute_uri(f"/grading/{token}")


@answering("POST")
async def submit(request: HttpRequest, token: str, task: str = "") -> JsonResponse:
    """Offer a checkpoint. Blocks until it is graded, or answers at once with `"wait": false`."""
    body = submit_body(request)

    def receive() -> Submission:
        run = _run_of(token)
        if body.gpu:
            raise BadRequest('This run was allotted no choice of GPU: leave "gpu" out.')
        named = task_of(run, task or body.task, needed=True)
        return submission_receive(run=run, model_path=body.model_path, key=body.key, task=named)

    submission = await _in_thread(receive)()
    if body.wait:
        await submission_ended(submission.pk)
    return await _in_thread(_answer)(submission.pk, _url(request, token))


def _answer(pk: int, url: str) -> JsonResponse:
    submission = Submission.objects.select_related("verdict", "run").get(pk=pk)
    answer = submission_answer(submission, url, run_standings(submission.run_id))
    return JsonResponse(answer, status=submission_status(submission))


@answering("GET")
async def health(request: HttpRequest, token: str, task: str = "") -> JsonResponse:
    """Whether the grader is there, and for which task."""

    def told() -> dict[str, Any]:
        run = _run_of(token)
        return health_answer(run, task_of(run, task))

    return JsonResponse(await _in_thread(told)())


@answering("GET")
async def time_left(request: HttpRequest, token: str, task: str = "") -> JsonResponse:
    """The budget, which all tasks of a run share."""

    def told() -> dict[str, Any]:
        run = _run_of(token)
        task_of(run, task)
        return time_answer(run)

    return JsonResponse(await _in_thread(told)())


@answering("GET")
async def submissions(request: HttpRequest, token: str, task: str = "") -> JsonResponse:
    """Every submission of the run, or of one of its tasks, oldest first."""
    url = _url(request, token)

    def listed() -> list[dict[str, Any]]:
        run = _run_of(token)
        named = task_of(run, task)
        rows = Submission.objects.filter(run=run, **({"task": named} if named else {}))
        rows = rows.select_related("verdict", "run")
        standings = run_standings(run.pk)
        return [submission_answer(row, url, standings) for row in rows]

    return JsonResponse({"submissions": await _in_thread(listed)()})


@answering("GET")
async def submission(request: HttpRequest, token: str, number: int, task: str = "") -> JsonResponse:
    """One submission: 202 while it is not graded."""

    def find() -> int:
        run = _run_of(token)
        task_of(run, task)
        pk = Submission.objects.filter(run=run, number=number).values_list("pk", flat=True).first()
        if pk is None:
            raise BadRequest(f"There is no submission {number}.", 404)
        return pk

    return await _in_thread(_answer)(await _in_thread(find)(), _url(request, token))


@answering("GET", "POST")
async def set_baseline(request: HttpRequest, token: str) -> JsonResponse:
    """Refused: the platform grades the base model itself."""
    return _error("The baseline is graded by the platform and cannot be set.", 403)


@answering("GET", "POST", "PUT", "DELETE")
async def unknown(request: HttpRequest, token: str, rest: str = "") -> JsonResponse:
    """Anything else under the run's URL."""
    return _error(
        "Known here: POST /submit, GET /health, /time, /submissions, /submissions/<n>; the same below /tasks/<task>.",
        404,
    )
