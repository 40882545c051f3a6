"""The part of Markdown that task descriptions use, as safe HTML: every letter of the text is escaped first.

Headings, paragraphs, lists (one level), fenced code, tables; code, bold and links to http(s) within a line.
"""

import re
from collections.abc import Iterator

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

HEADING = re.compile(r"(#{1,4}) +(.+?)\s*#*$")
ITEM = re.compile(r"(?:[-*]|\d+\.) +(.*)$")
RULE = re.compile(r"\|?[\s:|-]+\|?$")
INLINE = (
    (re.compile(r"\*\*(.+?)\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"\[([^\]]+)\]\((https?://[^\s)]+)\)"), r'<a href="\2" rel="noopener">\1</a>'),
)


def markdown_html(text: str, *, top: int = 2) -> SafeString:
    """`top`: the level of the highest heading that is made, for the page has its own."""
    return mark_safe("\n".join(_blocks(text.splitlines(), top)))  # noqa: S308  (all text went through `_inline`)


def section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next of its level; empty where there is no such heading."""
    found = re.search(rf"^(#+) +{re.escape(heading)}\s*$\n(.*?)(?=^\1 |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[2].strip() if found else ""


def _blocks(lines: list[str], top: int) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif line.startswith("```"):
            end = next((n for n in range(at + 1, len(lines)) if lines[n].startswith("```")), len(lines))
            yield f"<pre><code>{escape(chr(10).join(lines[at + 1 : end]))}</code></pre>"
            at = end + 1
        elif match := HEADING.match(line):
            level = min(6, len(match[1]) + top - 1)
            yield f"<h{level}>{_inline(match[2])}</h{level}>"
            at += 1
        else:
            end = _end(lines, at)
            yield _block(lines[at:end])
            at = end


def _end(lines: list[str], at: int) -> int:
    """The first line after a paragraph, list or table."""
    for number in range(at + 1, len(lines)):
        if not lines[number].strip() or lines[number].startswith("```") or HEADING.match(lines[number]):
            return number
    return len(lines)


def _block(lines: list[str]) -> str:
    if lines[0].startswith("|") and len(lines) > 1 and RULE.match(lines[1]):
        return _table(lines)
    if ITEM.match(lines[0]):
        return _list(lines)
    return f"<p>{_inline(' '.join(line.strip() for line in lines))}</p>"


def _list(lines: list[str]) -> str:
    items: list[str] = []
    for line in lines:
        if match := ITEM.match(line):
            items.append(match[1])
        else:
            items[-1] += " " + line.strip()
    kind = "ol" if lines[0][0].isdigit() else "ul"
    return f"<{kind}>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</{kind}>"


def _table(lines: list[str]) -> str:
    head, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in [lines[0], *lines[2:]]]
    told = "".join(f'<th scope="col">{_inline(cell)}</th>' for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{_inline(cell)}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><thead><tr>{told}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Table">{table}</div>'


def _inline(text: str) -> str:
    """Code first, so that nothing within it is read as anything else."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"<code>{escape(part)}</code>" if at % 2 else _spans(part) for at, part in enumerate(parts))


def _spans(text: str) -> str:
    found = str(escape(text))
    for pattern, made in INLINE:
        found = pattern.sub(made, found)
    return found
