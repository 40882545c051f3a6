"""Every way in which models write a function down."""

import pytest

from benchmark.tasks.humaneval.extraction import NoCode, fenced_blocks, program_of, reference_program_of

PROMPT = 'import math\n\n\ndef helper(x):\n    return x\n\n\ndef area(r):\n    """Return the area of a circle."""\n'
BODY = "    if r < 0:\n        return 0\n    return helper(math.pi) * r * r\n"
WHOLE = f"def area(r):\n{BODY}"
UNINDENTED = "if r < 0:\n    return 0\nreturn helper(math.pi) * r * r\n"

RIGHT = {
    "body": BODY,
    "body, first blanks swallowed": BODY.lstrip(),
    "body, stripped": BODY.strip(),
    "body, not indented": UNINDENTED,
    "body, then prose": f"{BODY}\n\nThis function checks the radius first. It's simple!",
    "body, then a test": f"{BODY}\n\nif __name__ == '__main__':\n    print(area(1))\n",
    "whole": WHOLE,
    "whole after the prompt": PROMPT + BODY,
    "whole within prose": f"Sure, here it is:\n\n{WHOLE}\nI hope that helps; don't hesitate to ask.",
    "whole with imports": f"from math import pi\nimport math\n\n{WHOLE}",
    "prose that begins like code": f"from the docstring we learn what to do.\n\n{WHOLE}",
    "fence": f"```python\n{WHOLE}```",
    "fence within prose": f"Here:\n\n```python\n{WHOLE}```\n\nNote that `r` isn't checked.",
    "fence without a language": f"```\n{WHOLE}```",
    "tilde fence": f"~~~python\n{WHOLE}~~~",
    "open fence": f"```python\n{WHOLE}",
    "fence closed on the last line of code": f"```python\n{WHOLE.rstrip()}```",
    "indented fence": "1. Write:\n\n   ```python\n"
    + "".join(f"   {line}\n" for line in WHOLE.splitlines())
    + "   ```\n",
    "body in a fence": f"```python\n{BODY}```",
    "body in a fence, not indented": f"```python\n{UNINDENTED}```",
    "body in an open fence": f"```\n{BODY}",
    "example first": f"Usage:\n```python\nprint(area(1))\n```\nCode:\n```python\n{WHOLE}```",
    "shell first": f"```bash\npip install math\n```\n```python\n{WHOLE}```",
    "broken draft first": f"```python\ndef area(r:\n    return\n```\nMended:\n```python\n{WHOLE}```",
    "example before a body": f"```python\narea(1)\n```\n```python\n{BODY}```",
    "after reasoning": f"<think>def area(r): return None\n```python\nx\n```</think>\n{WHOLE}",
    "after reasoning that the template began": f"I would write ```python\nnonsense\n```\n</think>\n\n{WHOLE}",
    "carriage returns": WHOLE.replace("\n", "\r\n"),
    "code before the definition": f"PI = 3.14\n\n\n{WHOLE}",
    "a word before the definition": f"Sure\n\n{WHOLE}",
    "async is not the name": f"def area_of(x):\n    return area(x)\n\n{WHOLE}",
    "four backticks": f"````python\n{WHOLE}````",
}


@pytest.mark.parametrize("completion", RIGHT.values(), ids=RIGHT.keys())
def test_code_is_found(completion: str) -> None:
    namespace: dict[str, object] = {"__name__": "candidate"}
    exec(program_of(PROMPT, completion, "area"), namespace)
    area = namespace["area"]
    assert callable(area)
    assert round(area(2), 3) == 12.566
    assert area(-1) == 0


@pytest.mark.parametrize(
    "completion",
    ["", "   \n\n", "I cannot do that.", "Sorry", "Sorry, no.", "<think>def area(r): return 1</think>", "```\n```"],
)
def test_no_code(completion: str) -> None:
    with pytest.raises(NoCode):
        program_of(PROMPT, completion, "area")


def test_broken_code_is_kept_as_it_is() -> None:
    program = program_of(PROMPT, "```python\ndef area(r):\n    return (r\n```", "area")
    assert program.endswith("def area(r):\n    return (r\n")


def test_the_first_of_two_definitions_counts() -> None:
    other = WHOLE.replace("* r * r", "* r")
    assert program_of(PROMPT, f"```python\n{WHOLE}```\nor\n```python\n{other}```", "area").endswith(WHOLE)


@pytest.mark.parametrize(
    "hostile", ["(" * 50_000, "-" * 200_000 + "1", "```" * 20_000, "    " * 50_000 + "x", "\0", "\ud800"]
)
def test_hostile_text_ends_quickly(hostile: str) -> None:
    for text in (hostile, f"def area(r):\n    return {hostile}", f"```python\n{hostile}\n```"):
        try:
            program_of(PROMPT, text, "area")
        except NoCode:
            continue


def test_blocks() -> None:
    assert fenced_blocks("a\n```x\nb\n```\nc `d` ```e```\n```\nf") == ["b\n", "f"]


def test_the_reference_s_rule() -> None:
    assert reference_program_of(PROMPT, f"```python\n{WHOLE}```", "area") == PROMPT + WHOLE
    assert reference_program_of(PROMPT, BODY, "area") == PROMPT + BODY.strip()
    assert reference_program_of(PROMPT, f"```python\n{WHOLE}", "area").startswith(f"{PROMPT}```")
