"""Task descriptions as HTML: the parts of Markdown they use, and nothing else."""

import pytest

from benchmark.catalogue import tasks
from frontend.markdown import markdown_html, section
from frontend.task_page import graded_text


def test_the_parts_that_descriptions_use() -> None:
    text = """# Title

A paragraph over
two lines with `code`, **bold** and [a link](https://example.org/a).

- one
  goes on
- two

1. first
2. second

| a | b |
|---|---|
| 1 | `2` |

```python
x = "<b>"
```
"""
    html = markdown_html(text, top=3)
    for part in (
        "<h3>Title</h3>",
        "<p>A paragraph over two lines with <code>code</code>, <strong>bold</strong>",
        '<a href="https://example.org/a" rel="noopener">a link</a>',
        "<ul><li>one goes on</li><li>two</li></ul>",
        "<ol><li>first</li><li>second</li></ol>",
        '<th scope="col">a</th>',
        "<td><code>2</code></td>",
        "<pre><code>x = &quot;&lt;b&gt;&quot;</code></pre>",
    ):
        assert part in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "`<img src=x onerror=alert(1)>`",
        "# <b>head</b>",
        "- <i>item</i>",
        "| <u>a</u> |\n|---|\n| <u>b</u> |",
        "[x](javascript:alert(1))",
        '[x](https://a"onmouseover="alert(1))',
        "```\n</code></pre><script>",
    ],
)
def test_nothing_of_the_text_becomes_markup(text: str) -> None:
    html = markdown_html(text)
    for tag in ("<script", "<img", "<b>", "<i>", "<u>", 'href="javascript', '"onmouseover="'):
        assert tag not in html


def test_odd_text_ends() -> None:
    for text in ("", "```", "|", "#", "- ", "1.", "```\nopen", "| a\n|---", "[](", "**"):
        markdown_html(text)


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    text = "# T\n\n## One\n\na\n\n### Deeper\n\nb\n\n## Two\n\nc\n"
    assert section(text, "One") == "a\n\n### Deeper\n\nb"
    assert section(text, "Two") == "c"
    assert section(text, "Three") == ""


@pytest.mark.parametrize("task", sorted(tasks()))
def test_every_shipped_description_says_how_it_is_graded(task: str) -> None:
    html = markdown_html(graded_text(tasks()[task]), top=3)
    assert len(html) > 200
    assert "\n|" not in html
    assert "```" not in html
