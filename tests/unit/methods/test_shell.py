"""Which commands a shell script reaches, and what they start."""

import pytest

from traces.methods.shell import Call, Shell
from traces.methods.shell_tokens import tokens


def reached(text: str, *positional: str, **variables: str) -> list[list[str]]:
    found: list[Call] = []
    Shell(found.append, variables=variables, positional=list(positional)).run(text)
    return [call.words for call in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python a.py --x 'b c' \"d e\"", [["python", "a.py", "--x", "b c", "d e"]]),
        ("python a.py \\\n  --lr 1", [["python", "a.py", "--lr", "1"]]),
        ("# python a.py\npython b.py # python c.py", [["python", "b.py"]]),
        ("echo python a.py; printf x", []),
        ("python a.py > log 2>&1 &", [["python", "a.py"]]),
        ("python a.py 2>&1 | tee log", [["python", "a.py"], ["tee", "log"]]),
        ("cd code && python a.py", [["python", "a.py"]]),
        ("X=1\npython $X ${Y:-2} '$X' $Z", [["python", "1", "2", "$X", "$Z"]]),
        ("f() {\n python a.py $1\n}\nf b\n", [["python", "a.py", "b"]]),
        ("function f { python a.py; }\n", []),
        ("if false; then a; elif true; then b; else c; fi", [["b"]]),
        ("if [ $M = x ]; then a; else b; fi", [["a"], ["b"]]),
        ("for i in 1 2; do a $i; done", [["a", "1"], ["a", "2"]]),
        ("while false; do a; done; b", [["b"]]),
        ("M=x\ncase $M in\n y) a;;\n x|z) b;;\nesac", [["b"]]),
        ("exit 0\na", []),
        ("a || exit 1\nb", [["a"], ["b"]]),
        ("[ 1 = 2 ] && a\n[ 1 = 1 ] && b", [["b"]]),
        ("true || a", []),
        ("(cd x; a)\n{ b; }", [["a"], ["b"]]),
        ("M=m\nA=(x=$M\n  # no\n  'b c'\n)\npython \"${A[@]}\" d", [["python", "x=m", "b c", "d"]]),
        ("A=(a)\nA+=(b)\nB=(${A[@]} c)\npython ${B[*]}", [["python", "a", "b", "c"]]),
        ("declare -a A=(a b)\npython ${A[@]} ${B[@]}", [["python", "a", "b", "${B[@]}"]]),
        ("A=()\npython ${A[@]}; A=(a; b", [["python"]]),
        (": <<'E'\na\nE\nb", [["b"]]),
        ('D=\nfor s in 1 2; do D="$D o/$s"; done\na $D', [["a", "o/1", "o/2"]]),
    ],
)
def test_commands(text: str, expected: list[list[str]]) -> None:
    assert reached(text) == expected


def test_known_variables_and_arguments_decide_branches() -> None:
    text = 'if [ "$1" == "grpo" ]; then a; else b; fi\nif [ -z "$STAGE" ]; then c; fi'
    assert reached(text, "grpo", STAGE="x") == [["a"]]
    assert reached(text, "sft", STAGE="") == [["b"], ["c"]]


def test_an_unknown_branch_is_a_doubt_and_lines_are_kept() -> None:
    found: list[Call] = []
    Shell(found.append).run("a\nif grep -q x y; then\n  b\nfi\n")
    assert [(call.words[0], call.line, bool(call.doubts)) for call in found] == [("a", 1, False), ("b", 3, True)]


def test_a_here_document_reaches_its_command() -> None:
    found: list[Call] = []
    Shell(found.append).run("python - <<'PY'\nprint(1)\nPY\ncat > x.py <<E\ny = 2\nE\n")
    assert [(call.words, call.heredoc, call.target) for call in found] == [
        (["python", "-"], "print(1)\n", None),
        (["cat"], "y = 2\n", "x.py"),
    ]


def test_exported_and_leading_variables_reach_the_environment() -> None:
    found: list[Call] = []
    Shell(found.append).run("export A=1\nB=2\nC=3 run\n")
    assert found[0].environment == {"A": "1", "C": "3"}


def test_tokens_count_lines_through_quotes() -> None:
    assert [(token.text, token.line) for token in tokens("a 'x\ny'\nb") if not token.is_operator] == [
        ("a", 1),
        ("x\ny", 1),
        ("b", 3),
    ]
