"""axe-core in a page: what a machine can tell of WCAG 2.2 A and AA.

The pinned package is fetched once by npm into pytest's cache (it is under the MPL, and only tests need it).
"""

import hashlib
import shutil
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

VERSION = "4.14.1"
SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
FOLDER = Path(__file__).resolve().parents[2] / ".pytest_cache" / "axe"
RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, { runOnly: { type: "tag", values: arguments[0] }, resultTypes: ["violations"] })
  .then((found) => done(found.violations), (error) => done([{ id: "axe", help: String(error), nodes: [] }]));
"""


@cache
def source() -> str:
    """axe's own script; skips where npm is missing or cannot reach a registry."""
    archive = FOLDER / f"axe-core-{VERSION}.tgz"
    if not archive.exists():
        npm = shutil.which("npm")
        if not npm:
            pytest.skip("npm is not installed: axe-core cannot be fetched")
        FOLDER.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            [npm, "pack", f"axe-core@{VERSION}", "--pack-destination", str(FOLDER)],
            cwd=FOLDER, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        if packed.returncode:
            pytest.skip(f"npm could not fetch axe-core {VERSION}: {packed.stderr[-200:]}")
    content = archive.read_bytes()
    assert hashlib.sha256(content).hexdigest() == SHA256, f"{archive} is not axe-core {VERSION}"
    with tarfile.open(archive) as tar:
        script = tar.extractfile("package/axe.min.js")
        assert script is not None
        return script.read().decode()


def violations(browser: webdriver.Chrome) -> list[str]:
    """What is wrong with the page that is open, a line each: rule, help, and the first elements."""
    browser.execute_script(source())
    found: Any = browser.execute_async_script(RUN, TAGS)
    return [
        f"{rule['id']}: {rule['help']} ({len(rule['nodes'])}): "
        + "; ".join(f"{node['html'][:160]} [{node.get('failureSummary', '')[:200]}]" for node in rule["nodes"][:3])
        for rule in found
    ]
