"""The shell's grammar as far as it decides which commands run: lists, if, loops, case, functions, here-documents."""

from dataclasses import dataclass, field

from traces.methods.shell_tokens import REDIRECTIONS, Token, tokens


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
