"""Run a parsed shell script in the mind: variables, functions and tests that are known; nothing is executed."""

import fnmatch
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from traces.methods.core import Place
from traces.methods.shell_parse import Node, Parser
from traces.methods.shell_tokens import ITEM, SINGLE_QUOTED_DOLLAR

VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?[-=]([^{}]*))?\}|(\w+)|([@*#?]))")
ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)(\+?)=(.*)$", re.S)
ITEMS = re.compile(r"\$\{(\w+)\[[@*]\]\}")
MAX_COMMANDS = 2_000
MAX_ROUNDS = 8
MAX_WORD = 256 * 1024
"""A program may stand in a word; a variable that doubles itself must end."""
TESTS = ("[", "[[", "test", "true", "false", ":")


class Exit(Exception):
    """`exit` was reached."""


class Return(Exit):
    """`return` was reached."""


@dataclass
class Call:
    """One command as it would run."""

    words: list[str]
    environment: dict[str, str]
    line: int
    folder: str
    heredoc: str | None
    target: str | None
    doubts: tuple[str, ...]

    def place(self, file: str) -> Place:
        return Place(file, self.line, self.folder, self.doubts)


@dataclass
class Shell:
    """`visit` is told every command that is reached."""

    visit: Callable[[Call], None]
    variables: dict[str, str] = field(default_factory=dict)
    positional: list[str] = field(default_factory=list)
    folder: str = ""
    doubts: tuple[str, ...] = ()
    exported: dict[str, str] = field(default_factory=dict)
    _functions: dict[str, list[Node]] = field(default_factory=dict)
    _calling: list[str] = field(default_factory=list)
    _count: int = 0

    def run(self, text: str) -> None:
        try:
            self._all(Parser(text).parse())
        except (Exit, RecursionError):
            return

    def _all(self, nodes: list[Node]) -> None:
        last: bool | None = True
        was_test = False
        for node in nodes:
            if (node.joined == "&&" and last is False) or (node.joined == "||" and last is True and was_test):
                continue
            if (node.joined == "&&" and last is None) or (node.joined == "||" and last is not False):
                self._maybe([node], node.line, alone=True)
            else:
                self._one(node)
            was_test = node.kind == "command" and bool(node.words) and node.words[0] in TESTS
            last = self._test([node]) if was_test else True

    def _one(self, node: Node) -> None:
        if node.kind == "command":
            self._command(node)
        elif node.kind == "function":
            self._functions[node.words[0]] = node.bodies[0]
        elif node.kind == "list":
            self._all(node.bodies[0])
        elif node.kind == "if":
            self._if(node)
        elif node.kind == "loop":
            self._loop(node)
        else:
            self._case(node)

    def _if(self, node: Node) -> None:
        bodies = list(node.bodies)
        while len(bodies) >= 2:
            known = self._test(bodies[0])
            if known is True:
                self._all(bodies[1])
                return
            if known is None:
                self._maybe(bodies[1], node.line)
            bodies = bodies[2:]
        if bodies:
            self._all(bodies[0])

    def _maybe(self, body: list[Node], line: int, *, alone: bool = False) -> None:
        saved = self.doubts
        self.doubts = (*saved, f"inside a shell branch (line {line}) whose condition is not known")
        try:
            if alone:
                self._one(body[0])
            else:
                self._all(body)
        except Exit:
            pass
        finally:
            self.doubts = saved

    def _test(self, nodes: list[Node]) -> bool | None:
        """A single `true`, `false`, or comparison of known texts."""
        if len(nodes) != 1 or nodes[0].kind != "command":
            return None
        words = [self.expand(each) for each in nodes[0].words]
        if words in (["true"], [":"], ["false"]):
            return words != ["false"]
        if not words or words[0] not in ("[", "[[", "test"):
            return None
        inner = [each for each in words[1:] if each not in ("]", "]]")]
        if len(inner) == 2 and inner[0] in ("-z", "-n") and "$" not in inner[1]:
            return (inner[1] == "") is (inner[0] == "-z")
        if len(inner) != 3 or "$" in inner[0] + inner[2]:
            return None
        left, operator, right = inner
        if operator in ("=", "==", "-eq"):
            return fnmatch.fnmatchcase(left, right) if operator == "==" else left == right
        return left != right if operator in ("!=", "-ne") else None

    def _loop(self, node: Node) -> None:
        body = node.bodies[-1]
        if len(node.words) >= 2 and node.words[1] == "in":
            items = [word for each in node.words[2:] for word in self.expand(each).split()]
            for item in items[:MAX_ROUNDS]:
                self.variables[node.words[0]] = item
                self._all(body)
            return
        if len(node.bodies) == 2 and self._test(node.bodies[0]) is False:
            return
        if node.words:
            self.variables.pop(node.words[0], None)
        self._all(body)

    def _case(self, node: Node) -> None:
        subject = self.expand(" ".join(node.words))
        for patterns, body in zip(node.patterns, node.bodies, strict=False):
            if "$" in subject or subject == "":
                self._maybe(body, node.line)
            elif any(fnmatch.fnmatchcase(subject, self.expand(each)) for each in patterns):
                self._all(body)
                return

    def _command(self, node: Node) -> None:
        self._count += 1
        if self._count > MAX_COMMANDS:
            raise Exit
        words = list(node.words)
        local: dict[str, str] = {}
        while words and (match := ASSIGNMENT.match(words[0])) is not None:
            before = local.get(match.group(1), self.variables.get(match.group(1), "")) if match.group(2) else ""
            local[match.group(1)] = (before + self._value(match.group(3)))[:MAX_WORD]
            words.pop(0)
        if not words:
            self.variables.update(local)
            return
        expanded = [part for each in words for part in self._parts(each)]
        self._builtin(expanded, local, node)

    def _builtin(self, words: list[str], local: dict[str, str], node: Node) -> None:
        name = words[0]
        if name in ("exit", "return"):
            raise Exit if name == "exit" else Return
        if name in ("export", "declare", "local", "readonly"):
            for word in words[1:]:
                if (match := ASSIGNMENT.match(word)) is not None:
                    self.variables[match.group(1)] = self.exported[match.group(1)] = match.group(3)
                elif word in self.variables:
                    self.exported[word] = self.variables[word]
        elif name == "cd" and len(words) > 1:
            self.folder = posixpath.normpath(posixpath.join(self.folder, words[1])) if "$" not in words[1] else ""
        elif name in self._functions and name not in self._calling:
            self._function(name, words[1:])
        elif name not in ("[", "[[", "test", "echo", "printf", "set", "true", ":", "trap"):
            environment = {**self.exported, **local}
            call = Call(words, environment, node.line, self.folder, node.heredoc, node.target, self.doubts)
            self.visit(call)

    def _function(self, name: str, arguments: list[str]) -> None:
        saved = self.positional
        self.positional = arguments
        self._calling.append(name)
        try:
            self._all(self._functions[name])
        except Return:
            pass
        finally:
            self._calling.pop()
            self.positional = saved

    def _value(self, text: str) -> str:
        """Of an assignment; the items of an array one by one, since one may be another array."""
        if not text.startswith(ITEM):
            return self.expand(text)
        return "".join(ITEM + part for each in text[1:].split(ITEM) for part in self._parts(each))

    def _parts(self, word: str) -> list[str]:
        if word in ("$@", "$*", "${@}"):
            return list(self.positional)
        if (items := ITEMS.fullmatch(word)) is not None and items.group(1) in self.variables:
            return self.variables[items.group(1)].split(ITEM)[1:]
        # An unquoted variable with several words is rare and means several arguments.
        found = self.expand(word)
        return found.split() if re.fullmatch(r"\$\{?\w+\}?", word) and found != word else [found]

    def expand(self, word: str) -> str:
        """Known variables replaced; `$NAME` stays for unknown ones."""

        def known(match: re.Match[str]) -> str:
            name = match.group(1) or match.group(3) or ""
            if name.isdigit():
                place = int(name) - 1
                found = self.positional[place] if 0 <= place < len(self.positional) else None
            else:
                found = self.variables.get(name, self.exported.get(name))
            if found is not None:
                return found
            return self.expand(match.group(2)) if match.group(2) is not None else match.group(0)

        return VARIABLE.sub(known, word).replace(SINGLE_QUOTED_DOLLAR, "$")[:MAX_WORD]
