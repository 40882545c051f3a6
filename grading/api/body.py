"""Reading and checking what an agent posts."""

import json
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

BODY_MAX = 65_536
KEY_MAX = 64


class BadRequest(Exception):
    """What is wrong with the request and how to mend it; `status` is the HTTP status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class SubmitBody:
    """A checked POST to `/submit`."""

    model_path: str
    gpu: str
    wait: bool
    key: str
    task: str = ""
    """Which of a multi run's tasks, where the body names one."""


def read_json(request: HttpRequest) -> dict[str, Any]:
    """The body as a JSON object. Raises: BadRequest."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdigit() or int(length) > BODY_MAX:
        raise BadRequest(f"The body may hold at most {BODY_MAX} bytes: send a path, not a checkpoint.", 413)
    raw = request.read(BODY_MAX + 1)
    if len(raw) > BODY_MAX:
        raise BadRequest(f"The body may hold at most {BODY_MAX} bytes: send a path, not a checkpoint.", 413)
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise BadRequest('The body must be JSON, such as {"model_path": "output/v1"}.') from None
    if not isinstance(body, dict):
        raise BadRequest('The body must be a JSON object, such as {"model_path": "output/v1"}.')
    return body


def submit_body(request: HttpRequest) -> SubmitBody:
    """Raises: BadRequest."""
    body = read_json(request)
    path, gpu, wait = body.get("model_path"), body.get("gpu"), body.get("wait", True)
    if not isinstance(path, str) or not path.strip():
        raise BadRequest('"model_path" is missing: name the checkpoint\'s folder, such as "output/v1".')
    if len(path) > 1024 or "\x00" in path or not path.isprintable():
        raise BadRequest('"model_path" must be a printable path of at most 1024 characters.')
    if not isinstance(wait, bool):
        raise BadRequest('"wait" must be true or false.')
    if gpu is not None and not (isinstance(gpu, str | int) and not isinstance(gpu, bool) and str(gpu).isdigit()):
        raise BadRequest('"gpu" must be the number of a GPU, such as "0".')
    task = body.get("task", "")
    if not isinstance(task, str) or len(task) > 64 or not (task.isprintable()):
        raise BadRequest('"task" must be the id of one of this run\'s tasks.')
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > KEY_MAX or not key.isascii() or not key.isprintable():
        raise BadRequest(f"Idempotency-Key must be at most {KEY_MAX} printable ASCII characters.")
    return SubmitBody(path, "" if gpu is None else str(gpu), wait, key, task)
