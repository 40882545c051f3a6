"""Tables as LaTeX (booktabs), with everything that TeX would read as a command escaped."""

from collections.abc import Sequence

ESCAPES = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "—": "---",
    "…": r"\ldots{}",
    "★": r"$\star$",
    "▼": r"$\blacktriangledown$",
    "→": r"$\to$",
    "×": r"$\times$",
}


def latex_text(text: str) -> str:
    """One cell; control characters are left out, so that a cell stays one line."""
    return "".join(ESCAPES.get(letter, letter) for letter in " ".join(text.split()) if letter.isprintable())


def latex_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str, numbers: Sequence[bool]) -> str:
    """A whole `table`; `numbers` says which columns are set right. Needs \\usepackage{booktabs}."""
    columns = "".join("r" if number else "l" for number in numbers)
    lines = [" & ".join(latex_text(cell) for cell in row) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{latex_text(caption)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(latex_text(cell) for cell in head) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )
