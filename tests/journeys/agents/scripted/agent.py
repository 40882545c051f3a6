"""A test agent. Standard library only; its argument says what it does.

submit:N       N different checkpoints, one after the other
parallel:N     N different checkpoints, all at once
same:N         one checkpoint under N paths, one after the other
nowait:N       N different checkpoints without waiting, then polls until all have ended
hang           starts a daemon that writes a heartbeat file for ever, submits one checkpoint, then sleeps
crash          ends with code 3
work:S         submits one checkpoint, works for S seconds with a line a second, submits another
leave:N        submits N checkpoints without waiting, and ends
attack:LAST    tries what an agent must not, saying so (see attacks.py)
probe          prints what it can see and reach
"""

import concurrent.futures
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from importlib import import_module
from pathlib import Path
from typing import Any

URL = os.environ["GRADING_SERVER_URL"]
OUT = Path(os.environ["OUTPUT_DIR"])
ENDED = ("graded", "rejected", "errored")
SALT = os.urandom(2)
"""So that no other run has submitted the same files."""
BASE = Path(os.environ["MODEL_PATH"])


def call(method: str, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def checkpoint(number: int) -> str:
    """The base model with the low mantissa bits of some weights changed."""
    folder = OUT / f"v{number}"
    shutil.copytree(BASE, folder)
    path = folder / "model.safetensors"
    raw = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    for offset in range(start, min(start + 4096, len(raw)), 4):
        raw[offset] = (raw[offset] + number) % 256
    raw[start + 1], raw[start + 5] = SALT
    path.write_bytes(bytes(raw))
    return str(folder)


def submit(path: str, **more: object) -> Any:
    status, answer = call("POST", "/submit", {"model_path": path, **more})
    # In one write: printed in pieces, the lines of agents' threads run into each other.
    os.write(1, f"submitted {path} {status} {json.dumps(answer)}\n".encode())
    return answer


def probe() -> None:
    def attempt(what: str, action: object) -> None:
        try:
            print("PROBE", what, "ok", repr(action())[:200], flush=True)  # type: ignore[operator]
        except Exception as error:
            print("PROBE", what, "refused", type(error).__name__, flush=True)

    attempt("set_baseline", lambda: call("POST", "/set_baseline", {"score": 1})[0])
    attempt("network", lambda: socket.create_connection(("127.0.0.1", 8000), timeout=2))
    attempt("write instructions", lambda: Path("instructions.md").write_text("x"))
    attempt("write model", lambda: (BASE / "x").write_text("x"))
    attempt("files", lambda: sorted(str(p) for p in Path(os.environ["WORKSPACE"]).rglob("*")))
    attempt("processes", lambda: [p for p in os.listdir("/proc") if p.isdigit()])
    attempt("environment", lambda: sorted(os.environ))


def main(what: str) -> int:
    word, _, n = what.partition(":")
    count = int(n) if n.isdigit() else 1
    if word == "submit":
        for number in range(1, count + 1):
            submit(checkpoint(number))
    elif word == "parallel":
        paths = [checkpoint(number) for number in range(1, count + 1)]
        with concurrent.futures.ThreadPoolExecutor(count) as pool:
            list(pool.map(submit, paths))
    elif word == "same":
        for number in range(1, count + 1):
            folder = OUT / f"copy{number}"
            shutil.copytree(checkpoint(1) if number == 1 else OUT / "v1", folder)
            submit(str(folder))
    elif word == "nowait":
        for number in range(1, count + 1):
            submit(checkpoint(number), wait=False)
        while any(row["state"] not in ENDED for row in call("GET", "/submissions")[1]["submissions"]):
            time.sleep(0.2)
    elif word == "hang":
        beat = "while true; do date +%s.%N > $OUTPUT_DIR/beat; sleep 0.1; done"
        subprocess.Popen(["setsid", "nohup", "bash", "-c", f"({beat}) & disown; exit"], stdout=subprocess.DEVNULL)
        submit(checkpoint(1))
        print("hanging", flush=True)
        time.sleep(100_000)
    elif word == "work":
        submit(checkpoint(1))
        for second in range(count):
            print("working", second, flush=True)
            time.sleep(1)
        submit(checkpoint(2))
        print("worked", flush=True)
    elif word == "leave":
        for number in range(1, count + 1):
            submit(checkpoint(number), wait=False)
    elif word == "attack":
        import_module("attacks").attack(n, submit)
    elif word == "probe":
        probe()
    elif word == "crash":
        print("crashing", flush=True)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
