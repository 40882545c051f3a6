"""A test agent of multi runs. Standard library only."""

import json
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT, OUT, BASE = (Path(os.environ[name]) for name in ("WORKSPACE", "OUTPUT_DIR", "MODEL_PATH"))
URL = os.environ["GRADING_SERVER_URL"]


def call(url: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def checkpoint(number: int) -> str:
    folder = OUT / f"v{number}"
    shutil.copytree(BASE, folder)
    path = folder / "model.safetensors"
    raw = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    raw[start : start + 3] = bytes([number, *os.urandom(2)])
    path.write_bytes(bytes(raw))
    return f"output/v{number}"


def say(what: str, told: object) -> None:
    print("SAID", what, json.dumps(told), flush=True)


named = sorted(path.name for path in (ROOT / "data").iterdir())
say("data", {name: sorted(path.name for path in (ROOT / "data" / name).iterdir()) for name in named})
say("urls", sorted(name for name in os.environ if name.startswith("GRADING_SERVER_URL_")))
say("no task", call(f"{URL}/submit", {"model_path": "output/v1"}))
say("another task", call(f"{URL}/tasks/gsm8k/submit", {"model_path": "output/v1"})[0])
for number, name in enumerate(named, 1):
    say(name, call(f"{URL}/tasks/{name}/submit", {"model_path": checkpoint(number)}))
say("twice", call(f"{URL}/submit", {"model_path": "output/v1", "task": named[1]}))
say("health", call(f"{URL}/tasks/{named[1]}/health"))
say("of one", [each["submission_id"] for each in call(f"{URL}/tasks/{named[1]}/submissions")[1]["submissions"]])
