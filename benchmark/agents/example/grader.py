"""Talk to the grading server: submit a checkpoint, ask how much time is left."""

import json
import os
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

TRIES = 4
PAUSE_S = 2.0
FOREVER_S = 24 * 3600.0
RETRIED = frozenset({502, 503, 504})


class Grader:
    """The run's grading URL and its budget. Times are seconds."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._deadline = time.monotonic() + float(os.environ.get("BUDGET_S") or FOREVER_S)

    def remaining(self) -> float:
        """What the server says is left, else what this process has counted itself."""
        status, answer = self._ask("GET", "/time", timeout_s=10, tries=1)
        left = answer.get("remaining")
        if status == 200 and isinstance(left, int | float):
            self._deadline = time.monotonic() + left
        return max(0.0, self._deadline - time.monotonic())

    def submit(self, path: str) -> dict[str, Any]:
        """Blocks until the checkpoint is graded. `score` is None with `error` when it was not."""
        status, answer = self._ask("POST", "/submit", {"model_path": path}, timeout_s=FOREVER_S, tries=TRIES)
        if answer.get("score") is None:
            answer.setdefault("error", f"The grading server answered {status}.")
        return {"score": None, **answer}

    def _ask(
        self, method: str, path: str, body: Any = None, *, timeout_s: float, tries: int
    ) -> tuple[int, dict[str, Any]]:
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
        data = json.dumps(body).encode() if body is not None else None
        for attempt in range(1, tries + 1):
            request = urllib.request.Request(self._url + path, data=data, headers=headers, method=method)  # noqa: S310
            try:
                with urllib.request.urlopen(request, timeout=timeout_s) as response:  # noqa: S310
                    return response.status, _object(response.read())
            except urllib.error.HTTPError as error:
                status, answer = error.code, _object(error.read())
                # A checkpoint that the grader could not grade is named in the answer: that is final.
                if status not in RETRIED or "submission_id" in answer:
                    return status, answer
            except OSError as error:
                status, answer = 0, {"error": f"The grading server cannot be reached: {error}"}
            if attempt < tries:
                time.sleep(PAUSE_S * attempt)
        return status, answer


def _object(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
