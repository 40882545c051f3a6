"""Files that the code reads and writes, commands that it starts, settings that it loads."""

import ast
import json
import re
from dataclasses import replace
from typing import Any

import yaml

from traces.methods.core import Args, Core
from traces.methods.outside import function, method
from traces.methods.values import UNKNOWN, Obj, Scope, Value, const, listed

MAX_NODES = 4_000
MAX_YAML = 16 * 1024
MAX_NESTING = 64
NESTING = re.compile(r"(?:[-?:] +){32}")
"""Sequences and keys within each other on one line."""


def settings(text: str, name: str) -> Any:
    """A YAML or JSON document.

    Raises: ValueError when it is neither, or too large.
    """
    try:
        if name.endswith(".json"):
            return json.loads(text)
        if len(text) > MAX_YAML:
            raise ValueError(f"a YAML file of more than {MAX_YAML} bytes")
        if NESTING.search(text) or _depth(text) > MAX_NESTING:
            raise ValueError("nested too deeply")
        # Not the loader in C: deep nesting overflows its stack, which ends the process.
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(str(error).replace("\n", " ")[:200]) from None


def _depth(text: str) -> int:
    """How deeply brackets nest; the YAML scanner's time grows with its square."""
    depth = deepest = 0
    for char in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if char in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def as_value(data: Any, room: list[int] | None = None) -> Value:
    """A loaded document as a value, up to a number of nodes."""
    room = room if room is not None else [MAX_NODES]
    room[0] -= 1
    if room[0] < 0:
        return UNKNOWN
    if isinstance(data, dict):
        made = Obj("dict", exact=True)
        made.table = {key: as_value(each, room) for key, each in data.items() if isinstance(key, str | int)}
        return Value((made,))
    if isinstance(data, list):
        return listed(as_value(each, room) for each in data)
    return const(data) if isinstance(data, str | int | float | bool) or data is None else UNKNOWN


@function("builtins.open", "io.open", "codecs.open", "gzip.open", "jsonlines.open")
def _open(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return _opened(machine, args.get("file", 0), args.get("mode", 1))


@method("open")
def _path_open(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    return _opened(machine, receiver, args.get("mode", 0)) if receiver.text() is not None else None


def _opened(machine: Core, path: Value, mode: Value) -> Value:
    made = Obj("file", name=path.text() or "")
    how = mode.text() or "r"
    if "r" in how:
        made.tags = set(_read_tags(machine, [made.name]))
    return Value((made,))


def _read_tags(machine: Core, paths: list[str]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for path in paths:
        if path and "://" not in path and ("." in path or "/" in path):
            found |= machine.lookup_tags(path) or frozenset()
    return found


@method("write", "writelines", "write_all", "write_text", "write_bytes", "writerow", "writerows")
def _write(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    held = [each.name for each in receiver.objects("file")] or [receiver.text() or ""]
    tags = machine.guarded(Value(tags=args.tags())).tags
    named = [name for name in held if name]
    for name in named:
        machine.store.wrote(name, tags)
    return UNKNOWN if named else None


@method("read_text", "read", "readlines", "readline", "read_bytes")
def _read(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    names = [each.name for each in receiver.objects("file")] or [receiver.text() or ""]
    name = names[0]
    if not name:
        return None
    found = machine.sources.find(name, near=machine.near)
    if found is not None and machine.lookup_tags(name) is None:
        return const(machine.sources.texts[found]).tagged(receiver.all_tags())
    return Value(tags=receiver.all_tags() | _read_tags(machine, [name]))


@function("builtins.print")
def _print(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    if "file" in args.keywords:
        _write(machine, args.keywords["file"], Args(args.positional), node, scope)
    return UNKNOWN


@function("json.dump", "pickle.dump", "yaml.dump", "yaml.safe_dump", "joblib.dump", "jsonlines.dump")
def _dump(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    target = args.get("fp", 1)
    return _write(machine, target, Args([args.get("obj", 0)]), node, scope) or UNKNOWN


@method(
    "to_json", "to_csv", "to_parquet", "to_pickle", "save_to_disk", "to_hdf", "to_feather", "save_jsonl", "write_jsonl"
)
def _save_table(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for path in [text for each in args.all() if (text := each.text())][:1]:
        machine.store.wrote(path, machine.guarded(receiver).all_tags())
        return UNKNOWN
    return None


@function(
    "load_dataset", "load_from_disk", "read_json", "read_csv", "read_parquet", "read_pickle", "from_json", "from_csv",
    "from_parquet", "np.load", "numpy.load", "scan_parquet", "read_jsonl", "load_jsonl", "read_ndjson"
)  # fmt: skip
def _load_table(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    paths = [text for each in args.all() for text in each.texts()]
    return Value(tags=args.tags() | _read_tags(machine, paths))


@function("json.load", "yaml.safe_load", "yaml.load", "yaml.full_load", "OmegaConf.load", "omegaconf.OmegaConf.load")
def _load_settings(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    first = args.get("stream", 0)
    held = [each.name for each in first.objects("file")]
    text, source = first.text(), held[0] if held else ""
    if text is not None and source == "" and name.endswith("OmegaConf.load"):
        source = text
    if source and machine.lookup_tags(source) is None:
        found = machine.sources.find(source, near=machine.near)
        if found is not None:
            text, source = machine.sources.texts[found], found
    if text is not None and not first.all_tags():
        try:
            return as_value(settings(text, source or ".yaml"))
        except ValueError as error:
            machine.store.note(source or scope.path, None, f"could not be parsed: {error}")
    return Value(tags=first.all_tags() | _read_tags(machine, [source]))


@function("json.loads")
def _loads(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    known = args.get("s", 0).constant()
    if known is None or not isinstance(known.value, str):
        return None
    try:
        return as_value(json.loads(known.value))
    except (ValueError, RecursionError):
        return None


@function(
    "os.system", "os.popen", "subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
    "subprocess.Popen", "subprocess.getoutput", "create_subprocess_exec", "create_subprocess_shell", "os.execvp"
)  # fmt: skip
def _command(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    first = args.get("args", 0)
    command: str | list[str] | None = first.text()
    for held in first.objects("list"):
        command = [each.text() or _word(each) for each in held.items]
    if name.endswith("create_subprocess_exec"):
        command = [each.text() or _word(each) for each in args.positional]
    if command:
        near = args.get("cwd").text() or machine.near
        env = dict(machine.environment)
        for held in args.get("env").objects("dict"):
            env |= {str(key): text for key, each in held.table.items() if (text := each.text()) is not None}
        machine.run_command(command, env, replace(machine.place(node, scope), folder=near))
    return Value(tags=args.tags())


def _word(value: Value) -> str:
    known = value.constant()
    if known is not None:
        return str(known.value)
    return "python" if any(getattr(ref, "name", "") == "sys.executable" for ref in value.refs) else "$UNKNOWN"


@function("shlex.split")
def _split(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    text = args.get("s", 0).text()
    return listed(const(word, exact="*" not in word) for word in text.split()) if text else UNKNOWN
