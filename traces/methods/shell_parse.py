"""The shell's grammar as far as it decides which commands run: lists, if, loops, case, functions, here-documents."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

HEREDOC = re.compile(r"(?<!<)<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
ARRAY = re.compile(r"[A-Za-z_]\w*\+?=")
SINGLE_QUOTED_DOLLAR = "\x00"
ITEM = "\x01"
"""In front of each item of an array's value."""
OPERATORS = ("&&", "||", ";;", "|&", "&>>", "&>", ">>", ">&", "<<<", "<&", ";", "|", "&", "(", ")", ">", "<", "\n")
REDIRECTIONS = frozenset({"&>>", "&>", ">>", ">&", "<<<", "<&", ">", "<"})
MAX_TOKENS = 50_000


@dataclass(frozen=True)
class Token:
    """A word (with `$` of single quotes masked) or an operator."""

    text: str
    line: int
    is_operator: bool = False
    heredoc: str | None = None


@dataclass
class Node:
    """`kind` is command, if, loop, case, function or list."""

    kind: str
    line: int
    words: list[str] = field(default_factory=list)
    bodies: list[list["Node"]] = field(default_factory=list)
    patterns: list[list[str]] = field(default_factory=list)
    heredoc: str | None = None
    target: str | None = None
    """The file that the command's output goes to."""
    joined: str = ""
    """`&&` or `||` when one of them leads here."""


def tokens(text: str) -> Iterator[Token]:
    """Words and operators; comments are dropped, here-documents stay with the operator's line."""
    at, line, count = 0, 1, 0
    waiting: list[str] = []
    while at < len(text) and count < MAX_TOKENS:
        count += 1
        char = text[at]
        if char in " \t\r":
            at += 1
        elif text.startswith("\\\n", at):
            at, line = at + 2, line + 1
        elif char == "#":
            at = _until(text, at, "\n")
        elif char == "\n":
            yield Token("\n", line, True)
            at, line = at + 1, line + 1
            for word in waiting:
                at, line = _skip_heredoc(text, at, line, word)
            waiting = []
        elif (match := HEREDOC.match(text, at)) is not None:
            waiting.append(match.group(2))
            body = _heredoc(text, at, waiting)
            yield Token("<<", line, True, heredoc=body)
            at = match.end()
        elif (operator := next((each for each in OPERATORS if text.startswith(each, at)), None)) is not None:
            yield Token(operator, line, True)
            at += len(operator)
        else:
            word, at, lines = _word(text, at)
            if text.startswith("(", at) and ARRAY.fullmatch(word):
                items, at, more = _array(text, at + 1)
                word, lines = word + "".join(ITEM + each for each in items), lines + more
            yield Token(word, line)
            line += lines


def _until(text: str, at: int, mark: str) -> int:
    found = text.find(mark, at)
    return len(text) if found < 0 else found


def _heredoc(text: str, at: int, waiting: list[str]) -> str:
    start = _until(text, at, "\n") + 1
    for word in waiting[:-1]:
        start, _ = _skip_heredoc(text, start, 0, word)
    end, _ = _skip_heredoc(text, start, 0, waiting[-1])
    return text[start:end].rpartition("\n" if not text[start:end].endswith("\n") else waiting[-1])[0]


def _skip_heredoc(text: str, at: int, line: int, word: str) -> tuple[int, int]:
    match = re.compile(rf"^[ \t]*{re.escape(word)}[ \t]*$\n?", re.M).search(text, at)
    end = match.end() if match else len(text)
    return end, line + text.count("\n", at, end)


def _array(text: str, at: int) -> tuple[list[str], int, int]:
    """The items up to the closing bracket."""
    items: list[str] = []
    start = at
    while at < len(text) and text[at] != ")" and len(items) < MAX_TOKENS:
        if text[at] == "#":
            at = _until(text, at, "\n")
        elif text[at] in " \t\r\n;&|<>(":
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        else:
            word, at, _ = _word(text, at)
            items.append(word)
    return items, at + 1, text.count("\n", start, at)


def _word(text: str, at: int) -> tuple[str, int, int]:
    out: list[str] = []
    start = at
    while at < len(text):
        char = text[at]
        if char == "'":
            end = _until(text, at + 1, "'")
            out.append(text[at + 1 : end].replace("$", SINGLE_QUOTED_DOLLAR))
            at = end + 1
        elif char == '"':
            at = _double(text, at + 1, out)
        elif char == "\\" and at + 1 < len(text):
            out.append("" if text[at + 1] == "\n" else text[at + 1])
            at += 2
        elif text.startswith("$(", at) or char == "`":
            end = _substitution(text, at)
            out.append("$UNKNOWN")
            at = end
        elif char in " \t\r\n;&|<>()":
            break
        else:
            out.append(char)
            at += 1
    return "".join(out), at, text.count("\n", start, at)


def _double(text: str, at: int, out: list[str]) -> int:
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and at + 1 < len(text):
            out.append({"$": SINGLE_QUOTED_DOLLAR, "\n": ""}.get(text[at + 1], text[at + 1]))
            at += 2
        elif text.startswith("$(", at):
            at = _substitution(text, at)
            out.append("$UNKNOWN")
        else:
            out.append(text[at])
            at += 1
    return at + 1


def _substitution(text: str, at: int) -> int:
    """The end of `$(…)` or of backquotes that begin at `at`."""
    if text[at] == "`":
        return _until(text, at + 1, "`") + 1
    depth, at = 0, at + 1
    while at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            break
    return at


class Parser:
    """Recursive descent over tokens. What does not parse is read as plain commands."""

    def __init__(self, text: str) -> None:
        self._tokens = list(tokens(text))
        self._at = 0
        self._depth = 0

    def parse(self) -> list[Node]:
        nodes: list[Node] = []
        while self._at < len(self._tokens):
            before = self._at
            nodes += self._list(frozenset())
            if self._at == before:
                self._at += 1
        return nodes

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _list(self, ends: frozenset[str]) -> list[Node]:
        nodes: list[Node] = []
        joined = ""
        self._depth += 1
        while (token := self._peek()) is not None and self._depth < 60:
            if token.text in ends and (not token.is_operator or token.text in (")", ";;")):
                break
            if token.is_operator and token.text not in ("(", "<<") and token.text not in REDIRECTIONS:
                self._at += 1
                if token.text == ")":
                    break
                joined = token.text if token.text != "\n" or joined not in ("&&", "||") else joined
                continue
            node = self._node(token)
            if node is not None:
                node.joined, joined = joined if joined in ("&&", "||") else "", ""
                nodes.append(node)
        self._depth -= 1
        return nodes

    def _node(self, token: Token) -> Node | None:
        word = token.text if not token.is_operator else ""
        if token.text == "(":
            self._at += 1
            inner = self._list(frozenset({")"}))
            self._take(")")
            return Node("list", token.line, bodies=[inner])
        if word == "{":
            self._at += 1
            inner = self._list(frozenset({"}"}))
            self._take("}")
            return Node("list", token.line, bodies=[inner])
        if word == "if":
            return self._if(token)
        if word in ("for", "while", "until"):
            return self._loop(token)
        if word == "case":
            return self._case(token)
        return self._function(token) or self._command(token)

    def _take(self, text: str) -> None:
        token = self._peek()
        if token is not None and token.text == text:
            self._at += 1

    def _if(self, token: Token) -> Node:
        node = Node("if", token.line)
        self._at += 1
        while True:
            node.bodies.append(self._list(frozenset({"then"})))
            self._take("then")
            node.bodies.append(self._list(frozenset({"elif", "else", "fi"})))
            following = self._peek()
            if following is None or following.text == "fi":
                break
            self._at += 1
            if following.text == "else":
                node.bodies.append(self._list(frozenset({"fi"})))
                break
        self._take("fi")
        return node

    def _loop(self, token: Token) -> Node:
        node = Node("loop", token.line)
        self._at += 1
        if token.text == "for":
            while (part := self._peek()) is not None and part.text not in ("do", "\n", ";"):
                node.words.append(part.text)
                self._at += 1
        else:
            node.bodies.append(self._list(frozenset({"do"})))
        while (part := self._peek()) is not None and part.is_operator:
            self._at += 1
        self._take("do")
        node.bodies.append(self._list(frozenset({"done"})))
        self._take("done")
        return node

    def _case(self, token: Token) -> Node:
        node = Node("case", token.line)
        self._at += 1
        while (part := self._peek()) is not None and part.text != "in":
            node.words.append(part.text)
            self._at += 1
        self._take("in")
        while (part := self._peek()) is not None and part.text != "esac":
            if part.is_operator and part.text != "|":
                self._at += 1
                continue
            patterns = []
            while (part := self._peek()) is not None and part.text != ")":
                patterns.append(part.text)
                self._at += 1
            self._take(")")
            node.patterns.append([each for each in patterns if each not in ("|", "\n", "(")])
            node.bodies.append(self._list(frozenset({";;", "esac"})))
        self._take("esac")
        return node

    def _function(self, token: Token) -> Node | None:
        ahead = [each.text for each in self._tokens[self._at : self._at + 3]]
        if token.text == "function" and len(ahead) > 1:
            name, self._at = ahead[1], self._at + 2
            if ahead[2:] == ["("]:
                self._at += 2
        elif ahead[1:] == ["(", ")"] and not token.is_operator:
            name, self._at = token.text, self._at + 3
        else:
            return None
        while (part := self._peek()) is not None and part.text == "\n":
            self._at += 1
        body = self._peek()
        inner = self._node(body) if body is not None else None
        return Node("function", token.line, words=[name], bodies=[[inner] if inner else []])

    def _command(self, token: Token) -> Node | None:
        node = Node("command", token.line)
        while (part := self._peek()) is not None:
            if not part.is_operator:
                node.words.append(part.text)
            elif part.text == "<<":
                node.heredoc = part.heredoc
            elif part.text in REDIRECTIONS:
                self._redirect(node, part.text)
            else:
                break
            self._at += 1
        return node

    def _redirect(self, node: Node, operator: str) -> None:
        following = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else None
        if node.words and node.words[-1].isdigit() and len(node.words) > 1:
            node.words.pop()
        if following is not None and not following.is_operator:
            if operator in (">", ">>"):
                node.target = following.text
            self._at += 1
