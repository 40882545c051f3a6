"""Promises of the pages that a look at the files can keep."""

import gzip
import os
import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.test import AsyncClient

from frontend.static_files import static_collect

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


async def test_files_travel_compressed_and_keep_their_headers(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "static"
    static_collect.cache_clear()
    client = AsyncClient()
    small = await client.get("/static/plotly/plotly.min.js", headers={"accept-encoding": "gzip"})
    whole = await client.get("/static/plotly/plotly.min.js", headers={"accept-encoding": "identity"})
    assert (small.headers["Content-Encoding"], "Content-Encoding" in whole.headers) == ("gzip", False)
    assert int(small.headers["Content-Length"]) * 3 < int(whole.headers["Content-Length"])
    for answer in (small, whole):
        assert (answer.headers["Cache-Control"], answer.headers["Vary"]) == ("max-age=60, public", "Accept-Encoding")
        assert answer.headers["ETag"]
    assert not (tmp_path / "static" / "plotly" / "widgetbundle.js").exists()


def test_only_what_has_changed_is_compressed_again(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT, settings.STATICFILES_DIRS = tmp_path / "static", [tmp_path / "source"]
    source = tmp_path / "source" / "some.css"
    source.parent.mkdir()
    source.write_text("a { color: red }\n" * 100)
    copy = tmp_path / "static" / "some.css.gz"

    def collected() -> str:
        static_collect.cache_clear()
        static_collect()
        return gzip.decompress(copy.read_bytes()).decode()

    text = collected()
    before = copy.stat().st_ctime_ns
    assert collected() == text
    assert copy.stat().st_ctime_ns == before
    source.write_text("b { color: blue }\n" * 100)
    later = source.stat().st_mtime + 10
    os.utime(source, (later, later))
    assert collected().startswith("b {")
