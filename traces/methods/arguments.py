"""Command-line arguments as the code sees them: argparse, dataclass parsers, click, typer and fire."""

import ast
import posixpath

from traces.methods.core import Args, Core
from traces.methods.file_calls import as_value, settings
from traces.methods.outside import function, method
from traces.methods.values import UNKNOWN, Class, External, Function, Obj, Scope, Value, const, join, listed

DATACLASS_PARSERS = ("HfArgumentParser", "TrlParser")


def option(argv: list[str], names: list[str]) -> str | bool | None:
    """The value of the last of `names` (`--x v`, `--x=v`, or a bare flag: True); `None` when absent."""
    found: str | bool | None = None
    for place, word in enumerate(argv):
        head, equals, tail = word.partition("=")
        if head.replace("_", "-") not in [name.replace("_", "-") for name in names]:
            continue
        after = argv[place + 1] if place + 1 < len(argv) else ""
        found = tail if equals else (after if after and not after.startswith("--") else True)
    return found


def following(argv: list[str], names: list[str]) -> list[str]:
    """All values after the last of `names`, up to the next option."""
    found: list[str] = []
    for place, word in enumerate(argv):
        if word in names:
            rest = argv[place + 1 :]
            end = next((at for at, each in enumerate(rest) if each.startswith("--")), len(rest))
            found = rest[:end]
    return found


def literal(text: str) -> object:
    """A word of the command line as Python would type it."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def word_value(text: str) -> Value:
    return const(text, exact=False) if "$" in text else const(literal(text))


def keywords(argv: list[str]) -> dict[str, Value]:
    """Every `--name value` as a keyword."""
    made: dict[str, Value] = {}
    for word in argv:
        if word.startswith("--") and len(word) > 2:
            name = word[2:].partition("=")[0]
            found = option(argv, [f"--{name}"])
            made[name.replace("-", "_")] = const(True) if found is True else word_value(str(found))
    return made


@function("argparse.ArgumentParser", "ArgumentParser")
def _parser(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return Value((Obj("parser"),))


@method("add_argument_group", "add_mutually_exclusive_group", "add_subparsers")
def _group(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for parser in receiver.objects("parser"):
        if "dest" in args.keywords:
            parser.attrs["<dest>"] = args.keywords["dest"]
        return receiver
    return None


@method("add_parser")
def _add_parser(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for parser in receiver.objects("parser"):
        name = args.get("name", 0).text() or "*"
        parser.table[f"sub:{name}"] = made = Value((Obj("parser"),))
        return made
    return None


@method("add_argument")
def _add_argument(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for parser in receiver.objects("parser"):
        flags = [text for each in args.positional if (text := each.text()) is not None]
        if not flags:
            return UNKNOWN
        longest = max(flags, key=len)
        name = args.get("dest").text() or longest.lstrip("-").replace("-", "_")
        action = args.get("action").text()
        default = args.keywords.get("default")
        if default is None:
            bare = const(action == "store_false") if action in ("store_true", "store_false") else const(None)
            default = UNKNOWN if args.keywords.get("required") or not longest.startswith("-") else bare
        several = args.get("nargs").constant()
        kind = "several" if several is not None and several.value != "?" else action
        parser.table[name] = listed([listed(const(flag) for flag in flags), default, const(kind)])
    return UNKNOWN if receiver.objects("parser") else None


@method("set_defaults")
def _set_defaults(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for parser in receiver.objects("parser"):
        parser.attrs.update(args.keywords)
        return UNKNOWN
    return None


@method("parse_args", "parse_known_args")
def _parse(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for parser in receiver.objects("parser"):
        made = Obj("instance", name="Namespace")
        given = args.get("args", 0).objects("list")
        argv = [text for each in given[0].items if (text := each.text()) is not None] if given else machine.argv
        fill(parser, made, argv)
        return listed([Value((made,)), UNKNOWN]) if args.callee == "parse_known_args" else Value((made,))
    return None


def fill(parser: Obj, made: Obj, argv: list[str] | None) -> None:
    """Give `made` what `parser` would; without a known command line the defaults hold."""
    words = argv or []
    plain = [word for word in words if not word.startswith("-")]
    for name, held in parser.table.items():
        spec = held.objects("list")
        if name.startswith("sub:") or not spec or not spec[0].exact:
            continue
        flags, default, action = spec[0].items
        known = [text for each in flags.objects("list")[0].items if (text := each.text())]
        if known and not known[0].startswith("-"):
            if action.text() == "several" and plain:
                made.attrs[name], plain = listed(word_value(word) for word in plain), []
            else:
                made.attrs[name] = word_value(plain.pop(0)) if plain and argv is not None else UNKNOWN
            continue
        found = option(words, known)
        if found is None:
            made.attrs[name] = default
        elif found is True or (action.text() or "").startswith("store_"):
            made.attrs[name] = const(action.text() != "store_false")
        elif action.text() == "several":
            made.attrs[name] = listed(word_value(word) for word in following(words, known))
        else:
            made.attrs[name] = word_value(str(found))
    made.attrs.update(parser.attrs)
    _fill_subparser(parser, made, words)


def _fill_subparser(parser: Obj, made: Obj, words: list[str]) -> None:
    children = {name[4:]: child.objects("parser")[0] for name, child in parser.table.items() if name.startswith("sub:")}
    if not children:
        return
    chosen = next((word for word in words if word in children), None)
    dest = made.attrs.pop("<dest>", const("<dest>")).text() or "<dest>"
    if chosen is not None:
        made.attrs[dest] = const(chosen)
        fill(children[chosen], made, words[words.index(chosen) + 1 :])
        return
    made.attrs.pop(dest, None)
    for name in {key for child in children.values() for key in child.attrs}:
        made.attrs[name] = join(*(child.attrs[name] for child in children.values() if name in child.attrs))


@function(*DATACLASS_PARSERS)
def _dataclass_parser(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    made = Obj("parser", name="dataclasses")
    first = args.get("dataclass_types", 0)
    held = first.objects("list")
    made.items = list(held[0].items) if held else [first]
    return Value((made,))


@method("parse_args_into_dataclasses", "parse_args_and_config", "parse_yaml_file", "parse_json_file", "parse_dict")
def _parse_dataclasses(machine: Core, receiver: Value, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    for parser in receiver.objects("parser"):
        return listed(_filled(machine, each) for each in parser.items)
    return None


def _filled(machine: Core, kind: Value) -> Value:
    given = keywords(machine.argv or [])
    for ref in kind.refs:
        if isinstance(ref, Class):
            known = {name: value for name, value in given.items() if name in ref.fields}
            return machine.instantiate(ref, Args(keywords=known))
        if isinstance(ref, External):
            return Value((Obj("external", name=ref.name, attrs=given),))
    return UNKNOWN


@function("dataclasses.field", "field")
def _field(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    if "default" in args.keywords:
        return args.keywords["default"]
    if "default_factory" in args.keywords:
        return machine.call(args.keywords["default_factory"], Args(), node, scope)
    return None


@function("typer.Typer", "click.Group")
def _app(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value:
    return Value((Obj("app", name=name),))


@function("fire.Fire", "Fire")
def _fire(machine: Core, name: str, args: Args, node: ast.AST, scope: Scope) -> Value | None:
    words = machine.argv or []
    holder = args.get("component", 0)
    table = dict(scope.module().names) if not holder.refs else {}
    for ref in holder.refs:
        if isinstance(ref, Function):
            return machine.call(holder, Args(keywords=keywords(words)), node, scope)
        table.update(ref.table if isinstance(ref, Obj) else {})
    for word in words:
        if word in table:
            return machine.call(table[word], Args(keywords=keywords(words)), node, scope)
    return UNKNOWN


def run_commands(machine: Core, key: object) -> None:
    """What a click group or typer app does when called: the command that the command line names, else every one."""
    commands = machine.commands.get(id(key), [])
    words = machine.argv or []
    chosen = [each for each in commands if each[0] in words] or commands
    doubt = "one of several commands of this program" if len(chosen) > 1 else ""
    for _, command in chosen:
        if doubt:
            machine.doubts.append(doubt)
        machine.invoke(command, Args(keywords={**click_defaults(command), **keywords(words)}))
        if doubt:
            machine.doubts.pop()


def click_defaults(command: Function) -> dict[str, Value]:
    """Defaults in `@click.option("--name", default=…)`."""
    made: dict[str, Value] = {}
    decorators = [] if isinstance(command.node, ast.Lambda) else command.node.decorator_list
    for each in decorators:
        if not (isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "option"):
            continue
        names = [arg.value for arg in each.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        default = next((word.value for word in each.keywords if word.arg == "default"), None)
        is_flag = any(word.arg == "is_flag" for word in each.keywords)
        if names and (isinstance(default, ast.Constant) or is_flag):
            value = default.value if isinstance(default, ast.Constant) else False
            made[max(names, key=len).lstrip("-").replace("-", "_")] = const(value)
    return made


def hydra_arguments(machine: Core, main: Function) -> list[Value]:
    """What `@hydra.main(config_path=…, config_name=…)` passes: the YAML file under the command line's `key=value`."""
    decorators = [] if isinstance(main.node, ast.Lambda) else main.node.decorator_list
    for each in decorators:
        words = each.keywords if isinstance(each, ast.Call) else []
        given = {word.arg: word.value.value for word in words if isinstance(word.value, ast.Constant)}
        if "config_name" not in given:
            continue
        name = str(given["config_name"]).removesuffix(".yaml") + ".yaml"
        path = posixpath.join(str(given.get("config_path") or ""), name)
        found = machine.sources.find(path, near=posixpath.dirname(main.scope.path))
        try:
            config = as_value(settings(machine.sources.texts[found], found)) if found else Value((Obj("dict"),))
        except ValueError as error:
            machine.store.note(found or path, None, f"could not be parsed: {error}")
            return [UNKNOWN]
        for word in machine.argv or []:
            _override(config, word)
        return [config]
    return []


def _override(config: Value, word: str) -> None:
    """`a.b=c` of the command line."""
    key, equals, text = word.lstrip("+").partition("=")
    *parents, last = key.split(".")
    for part in parents:
        for held in config.objects("dict"):
            config = held.table.setdefault(part, Value((Obj("dict"),)))
    for held in config.objects("dict") if equals else ():
        held.table[last] = word_value(text)
