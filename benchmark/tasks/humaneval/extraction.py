"""Where the code is in a completion: a whole function, a fenced block closed or not, or the body alone.

The result is always prompt and code together, so that the prompt's imports and helper functions are there.
"""

import ast
import re
import textwrap
from collections.abc import Callable, Sequence

FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
CODE_START = re.compile(r"(?:import|from|def|async|class)\b|@")
INDENT = "    "
MOST_CUTS = 30


class NoCode(Exception):
    """There is nothing in the completion that could be the function."""


def without_reasoning(text: str) -> str:
    """The text outside `<think>…</think>`; text before a lone `</think>` goes, an unclosed `<think>` hides nothing."""
    if "</think>" in text and "<think>" not in text:
        text = text.rpartition("</think>")[2]
    return re.sub(r"<think>.*?</think>", "", text, flags=re.DOTALL)


def fenced_blocks(text: str) -> list[str]:
    """The contents of all fenced blocks in order; the last one may lack its end."""
    blocks: list[list[str]] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        if not fence and found and "`" not in found[2]:
            fence = found[1]
            blocks.append([])
        elif fence and line.rstrip().endswith(fence):
            blocks[-1].append(line.rstrip().rstrip(fence[0]))
            fence = ""
        elif fence:
            blocks[-1].append(line)
    return ["".join(lines) for lines in blocks]


def program_of(prompt: str, completion: str, entry_point: str) -> str:
    """The program of a completion, complete with the prompt. Raises: NoCode.

    Blocks that define the entry point come first, and of several the first that compiles; then a block that is the
    function's body. Without blocks the same holds for the whole text. What does not compile is returned as it is.
    """
    text = without_reasoning(completion)
    blocks = [block for block in fenced_blocks(text) if block.strip()]
    whole = [textwrap.dedent(block) for block in blocks] or _from_code(text, entry_point)
    programs = [_joined(prompt, code) for code in whole if _defines(code, entry_point)]
    if programs:
        cut = (_cut_to_compile(program) for program in programs)
        return next(
            (program for program in cut if program and _defines(program[len(prompt) :], entry_point)), programs[0]
        )
    bodies = [program for each in blocks or [text] if (program := _with_body(prompt, each, may_cut=not blocks))]
    if bodies:
        return next((program for program in bodies if " return" in program[len(prompt) - 1 :]), bodies[0])
    if blocks:
        return prompt + blocks[0]
    raise NoCode


def reference_program_of(prompt: str, completion: str, entry_point: str) -> str:
    """As OpenCompass 0.5.1 composes it: the first closed fence or the whole text, stripped at the left."""
    text = without_reasoning(completion).strip()
    blocks: list[str] = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL)
    return prompt + (blocks[0] if blocks else text).lstrip()


RULES: dict[str, Callable[[str, str, str], str]] = {"own": program_of, "reference": reference_program_of}


def _defines(code: str, name: str) -> bool:
    return re.search(rf"^(?:async[ \t]+)?def[ \t]+{re.escape(name)}\b", code, re.MULTILINE) is not None


def _joined(prompt: str, code: str) -> str:
    return prompt + ("" if prompt.endswith("\n") else "\n") + code.lstrip("\n")


def _from_code(text: str, entry_point: str) -> list[str]:
    """The text from where code begins: at its first line, at the first that begins like a definition, at ours."""
    lines = text.splitlines(keepends=True)
    starts = [at for at, line in enumerate(lines) if CODE_START.match(line)][:1]
    if starts and _compiles(lead := "".join(lines[: starts[0]])) is None and _has_statement(ast.parse(lead).body):
        starts.insert(0, 0)
    starts += [at for at, line in enumerate(lines) if _defines(line, entry_point)][:1]
    return ["".join(lines[start:]) for start in starts]


def _compiles(program: str) -> SyntaxError | bool | None:
    """None when it does, its SyntaxError when that says where, else False."""
    try:
        ast.parse(program)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError):
        return False
    return None


def _cut_to_compile(program: str) -> str | None:
    """The longest beginning found that compiles: what follows the code, such as an explanation, goes."""
    for _ in range(MOST_CUTS):
        error = _compiles(program)
        if error is None:
            return program
        if isinstance(error, bool) or not error.lineno or error.lineno < 2:
            return None
        lines = program.splitlines(keepends=True)
        program = "".join(lines[: min(error.lineno, len(lines)) - 1])
    return None


def _with_body(prompt: str, text: str, *, may_cut: bool) -> str | None:
    """The prompt followed by the text as the function's body, or None where that is no code."""
    # Tokenizers and templates like to swallow the blanks that a completion begins with, of one line or of all.
    indented = textwrap.indent(textwrap.dedent(text.strip("\n")), INDENT)
    for body in (text, INDENT + text.lstrip(), indented):
        program = prompt.rstrip(" ") + body
        whole = program if _compiles(program) is None else (_cut_to_compile(program) if may_cut else None)
        if whole and _does_something(whole, prompt):
            return whole
    return None


def _does_something(program: str, prompt: str) -> bool:
    """Whether statements follow the docstring of the prompt's last function."""
    functions = [node for node in ast.parse(prompt).body if isinstance(node, ast.FunctionDef)]
    found = [node for node in ast.parse(program).body if isinstance(node, ast.FunctionDef)][: len(functions)]
    if len(found) < len(functions):
        return False
    return _has_statement(found[-1].body[len(functions[-1].body) :])


def _has_statement(nodes: Sequence[ast.stmt]) -> bool:
    """Whether there is more than bare words."""
    return any(not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call | ast.Yield) for node in nodes)
