"""What a checkpoint reads and writes in one round of `deepsearchqa`: the prompt, its length, its actions.

Standard library only, and one file: agents are given a copy.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

ROUNDS = 6
"""The last one can only answer."""
MAX_TOKENS = 256
STOP = ("\nObservation", "\nQuestion:")
HITS = 3
PROMPT_TOKENS = 4096
"""Of one prompt together with its completion."""
BYTES_PER_TOKEN = 3
"""How tokens are counted here, whatever the tokenizer: one for three bytes of UTF-8. English needs fewer, Chinese about
as many. So the same words give every checkpoint the same prompt."""
PROMPT_BYTES = (PROMPT_TOKENS - MAX_TOKENS) * BYTES_PER_TOKEN
THOUGHT_CHARS, QUERY_CHARS = 800, 300
TITLE_CHARS, HOST_CHARS, SNIPPET_CHARS = 100, 60, 400
READ_CHARS = 4000
"""So much of a completion is looked at."""

INSTRUCTIONS = f"""\
Answer a research question with the help of a web search. You work in rounds. In each round write one thought and one \
action, either

Thought: what you know and what is still missing
Action: search[words to search for]

or, as soon as you know the answer,

Thought: how you know
Action: answer[the answer]

After a search you see an observation with up to {HITS} results. There are {ROUNDS} rounds, and in the last one you \
can only answer. If the question asks for several things, name all of them and nothing else, separated by semicolons.

"""
LAST_WORDS = "Thought: This is the last round, I have to answer.\nAction: answer["
LEFT_OUT = "(Earlier rounds are left out.)\n"
NOT_UNDERSTOOD = "No action was understood. Write `Action: search[words]` or `Action: answer[the answer]`."
NO_QUERY = "The search had no words."
NO_RESULTS = "Nothing was found. Try other words."

_ACTION = re.compile(r"(?:action(?: *\d+)?[*` ]*:[\s*`]*|^[ \t*`]*)(search|answer) *\[", re.IGNORECASE | re.MULTILINE)
_MARKUP = re.compile(r"<(?=[^\s\d=])")


@dataclass(frozen=True)
class Move:
    """What a completion said: a search, an answer, or nothing that was understood."""

    kind: Literal["search", "answer", "none"]
    argument: str = ""
    thought: str = ""


@dataclass(frozen=True)
class Round:
    """A round that is over, as later prompts show it."""

    move: Move
    observation: str

    @property
    def text(self) -> str:
        action = "" if self.move.kind == "none" else f"Action: {self.move.kind}[{self.move.argument}]\n"
        return f"Thought: {self.move.thought}\n{action}Observation: {self.observation}\n"


def prompt_text(question: str, rounds: Sequence[Round]) -> str:
    """The prompt after `rounds`: instructions and question whole, then the latest rounds that still fit."""
    start = f"{INSTRUCTIONS}Question: {question}\n"
    end = "Thought:" if len(rounds) < ROUNDS - 1 else LAST_WORDS
    room = PROMPT_BYTES - _bytes(start + LEFT_OUT + end)
    shown: list[str] = []
    for text in (past.text for past in reversed(rounds)):
        room -= _bytes(text)
        if room < 0:
            return start + LEFT_OUT + "".join(reversed(shown)) + end
        shown.append(text)
    return start + "".join(reversed(shown)) + end


def read_move(completion: str) -> Move:
    """The first action of a completion that follows `Thought:`."""
    text = completion[:READ_CHARS]
    found = _ACTION.search(text)
    if found is None:
        return Move("none", thought=_thought(text))
    argument = _inside(text[found.end() :])
    thought = _thought(text[: found.start()])
    if found[1].lower() == "search":
        return Move("search", one_line(argument, QUERY_CHARS), thought)
    return Move("answer", argument.strip(), thought)


def read_last_move(completion: str) -> Move:
    """The answer in a completion that follows `Action: answer[`. One that opens with the action anew is read so too."""
    text = completion[:READ_CHARS]
    again = _ACTION.match(text.lstrip())
    if again is not None and again[1].lower() == "answer":
        text = text.lstrip()[again.end() :]
    return Move("answer", _inside(text).strip())


def observation(hits: Sequence[tuple[str, str, str]]) -> str:
    """Search results, given as (title, URL, snippet), one a line."""
    lines = [
        f"({number}) {one_line(title, TITLE_CHARS)} [{one_line(_host(url), HOST_CHARS)}] "
        f"{one_line(snippet, SNIPPET_CHARS)}"
        for number, (title, url, snippet) in enumerate(hits[:HITS], start=1)
    ]
    return "\n".join(lines) or NO_RESULTS


def one_line(text: str, chars: int) -> str:
    """Text from elsewhere on one line: without control characters, and without what a tokenizer takes for its own."""
    plain = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text[: 4 * chars])
    line = " ".join(_MARKUP.sub("< ", plain).split())
    return line if len(line) <= chars else line[: chars - 1] + "…"


def _inside(text: str) -> str:
    """What stands before the bracket that closes the one opened before `text`.

    Brackets within count, so `a [b] c]` gives `a [b] c`. Where they do not pair on the line, as in `[0, 1)]`, the last
    bracket at the line's end closes; where nothing does, the line's end.
    """
    line = text.strip().partition("\n")[0].rstrip()
    closed = _balanced(line)
    if closed is None and line.endswith("]"):
        closed = line[:-1]
    if closed is None:
        closed = _balanced(text)
    return line if closed is None else closed


def _balanced(text: str) -> str | None:
    depth = 1
    for position, letter in enumerate(text):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            return text[:position]
    return None


def _thought(text: str) -> str:
    return one_line(re.sub(r"^\s*thought(?: *\d+)? *:", "", text, flags=re.IGNORECASE), THOUGHT_CHARS)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].removeprefix("www.")


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
