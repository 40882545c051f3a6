"""What stands before a command and only says how it is run."""

import posixpath
import re

WRAPPERS = frozenset(
    ("nohup", "time", "sudo", "nice", "ionice", "stdbuf", "setsid", "exec", "command", "env", "xvfb-run", "unbuffer")
)
TAKING_ONE = frozenset({"timeout", "taskset", "conda-run", "numactl"})
ASSIGNED = re.compile(r"^[A-Za-z_]\w*=")


def unwrapped(words: list[str], environment: dict[str, str]) -> list[str]:
    """Without `nohup`, `timeout 1h`, `env A=b`, `uv run`, `conda run -n x` and their like."""
    words = list(words)
    while words:
        name = posixpath.basename(words[0])
        if name in WRAPPERS or ASSIGNED.match(words[0]):
            if "=" in words[0]:
                key, _, value = words[0].partition("=")
                environment[key] = value
            words.pop(0)
            while words and words[0].startswith("-") and name in WRAPPERS:
                words.pop(0)
        elif name in TAKING_ONE:
            words.pop(0)
            while words and words[0].startswith("-"):
                words = words[2:] if words[0] in ("-s", "-k", "-c") else words[1:]
            words = words[1:] if name in ("timeout", "taskset") else words
        elif name in ("uv", "poetry", "pipenv", "pdm", "rye", "hatch") and words[1:2] == ["run"]:
            words = words[2:]
            while words and words[0].startswith("-"):
                words.pop(0)
        elif name == "conda" and words[1:2] == ["run"]:
            words = words[2:]
            while words and words[0].startswith("-"):
                words = words[2:] if words[0] in ("-n", "-p", "--name", "--prefix") else words[1:]
        else:
            break
    return words
