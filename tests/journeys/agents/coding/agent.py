"""A test agent that writes code, prints a transcript and submits. Standard library only.

two-methods    supervised fine-tuning, then GRPO; a link out of code/, a binary file, the run's token in a file
tamper         tries to rewrite the log that it prints to, then submits

After their first words both pause for three seconds; with `:watched` behind the name until there is a file `go` in the
folder of what they put out, for whoever watches has seen enough then.
"""

import json
import os
import shutil
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

URL = os.environ["GRADING_SERVER_URL"]
ROOT = Path(os.environ["WORKSPACE"])
CODE, OUT, BASE = ROOT / "code", Path(os.environ["OUTPUT_DIR"]), Path(os.environ["MODEL_PATH"])
SALT = os.urandom(2)
WHAT, _, WATCHED = sys.argv[1].partition(":")

SFT = """from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

trainer = SFTTrainer("models/base", args=SFTConfig(output_dir="output/v1"), train_dataset=load_dataset("json"))
trainer.train()
trainer.save_model("output/v1")
"""
GRPO = """from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer


def reward(completions, **extra):
    return [float("4" in completion) for completion in completions]


trainer = GRPOTrainer("output/v1", reward_funcs=reward, args=GRPOConfig(output_dir="output/v2"),
                      train_dataset=load_dataset("json"))
trainer.train()
trainer.save_model("output/v2")
"""


def say(**record: Any) -> None:
    print(json.dumps({"session_id": "s1", **record}), flush=True)


def call(number: int, command: str) -> None:
    content = [{"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {"command": command}}]
    message = {"id": f"m{number}", "role": "assistant", "content": content}
    say(type="assistant", parent_tool_use_id=None, message=message)
    result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "done", "is_error": False}
    say(type="user", parent_tool_use_id=None, message={"role": "user", "content": [result]})


def checkpoint(number: int) -> str:
    """The base model with some weights' low bits changed."""
    folder = OUT / f"v{number}"
    shutil.copytree(BASE, folder)
    path = folder / "model.safetensors"
    raw = bytearray(path.read_bytes())
    start = 8 + int.from_bytes(raw[:8], "little")
    raw[start], raw[start + 4], raw[start + 8] = number, *SALT
    path.write_bytes(bytes(raw))
    return f"output/v{number}"


def submit(path: str) -> None:
    body = json.dumps({"model_path": path}).encode()
    request = urllib.request.Request(URL + "/submit", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as answer:
        told = json.loads(answer.read())
    say(type="system", subtype="status", status=f"{path} {told['score']}")


def pause() -> None:
    time.sleep(0 if WATCHED else 3)
    while WATCHED and not (OUT / "go").exists():
        time.sleep(0.1)


def two_methods() -> None:
    (CODE / "train_sft.py").write_text(SFT)
    (CODE / "data.bin").write_bytes(b"\0" * 64)
    (CODE / "out").symlink_to("/etc/passwd")
    (CODE / "submit.sh").write_text(f"curl {URL}/submit\n")
    call(1, "python code/train_sft.py")
    pause()
    submit(checkpoint(1))
    (CODE / "train_grpo.py").write_text(GRPO)
    (CODE / "train_sft.py").write_text(SFT.replace("output/v1", "output/sft"))
    call(2, "python code/train_grpo.py")
    submit(checkpoint(2))
    (ROOT / "summary.md").write_text("# Summary\n\n1. SFT, then GRPO on it.\n")
    entry = {"iteration": 1, "train_type": "SFT", "score": 1.0}
    (ROOT / "summary.jsonl").write_text(json.dumps(entry) + "\nnot json\n")


def tamper() -> None:
    say(type="system", subtype="status", status="what was really said")
    pause()
    try:
        with open("/proc/self/fd/1", "r+b") as log:
            log.write(b'{"type":"system","subtype":"init","model":"of the agent"}')
    except OSError as error:
        say(type="system", subtype="status", status=f"refused: {error}")
    submit(checkpoint(1))


if __name__ == "__main__":
    say(type="system", subtype="init", model="scripted", claude_code_version="1", tools=["Bash"])
    two_methods() if WHAT == "two-methods" else tamper()
    say(type="result", subtype="success", is_error=False, num_turns=2, usage={}, total_cost_usd=0.0, result="done")
