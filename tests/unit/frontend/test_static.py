"""Promises of the pages that a look at the files can keep."""

import re
from pathlib import Path

from django.conf import settings

FRONTEND = Path(settings.BASE_DIR) / "frontend"
TEMPLATES = sorted((FRONTEND / "templates").rglob("*.html"))


def test_templates_have_nothing_inline() -> None:
    for path in TEMPLATES:
        text = path.read_text()
        assert not re.search(r"\sstyle\s*=|<style|\son[a-z]+\s*=\s*[\"']|javascript:", text), path
        assert not re.search(r"<script(?![^>]*\bsrc=)", text), path
        assert "|safe" not in text, path
        assert "autoescape off" not in text, path


def test_every_style_sheet_that_plotly_would_inject_is_spoken_for() -> None:
    assert settings.PLOTLY_ASSETS is not None
    bundle = (settings.PLOTLY_ASSETS / "plotly.min.js").read_text()
    page = (FRONTEND / "templates" / "frontend" / "parts" / "plotly_head.html").read_text()
    guards = re.findall(r'getElementById\("([0-9a-f]{64})"\)\)\{var \w+=document\.createElement\("style"\)', bundle)
    assert len(guards) + 1 == bundle.count('createElement("style")')
    assert guards
    for guard in guards:
        assert f'id="{guard}"' in page
    assert 'id="plotly.js-style-global" class="no-inline-styles"' in page
    assert 'matches(".no-inline-styles")' in bundle
    for path in TEMPLATES:
        text = path.read_text()
        assert "plotly.min.js" not in text or "parts/plotly_head.html" in text, path


def test_scripts_put_no_html_together() -> None:
    for path in (FRONTEND / "static" / "frontend" / "js").glob("*.js"):
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", path.read_text()), path
