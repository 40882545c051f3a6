"""Where runs lie in a folder, and in which layout."""

from __future__ import annotations

from collections.abc import Callable

from bundles.dialects.agent2 import agent2_is
from bundles.dialects.atif import atif_is, atif_read
from bundles.dialects.facts import RunFacts
from bundles.dialects.harbor import harbor_is, harbor_read
from bundles.dialects.posttrainbench import posttrainbench_is, posttrainbench_read
from bundles.dialects.workspace import workspace_is, workspace_read
from bundles.format.tree import Tree
from bundles.rules.findings import Finding

DEPTH = 5
Reading = Callable[[Tree, str, str], tuple[RunFacts, list[Finding]]]
READERS: dict[str, Reading] = {
    "workspace": workspace_read,
    "posttrainbench": posttrainbench_read,
    "harbor": harbor_read,
    "atif": atif_read,
}
SIGNS: tuple[tuple[str, Callable[[Tree, str], bool]], ...] = (
    ("agent2", agent2_is),
    ("posttrainbench", posttrainbench_is),
    ("harbor", harbor_is),
    ("atif", atif_is),
    ("workspace", workspace_is),
)
EXPECTED = (
    "manifest.json with format agent2-bundle, run_meta.json or scores.json (a workspace), solve_out.txt "
    "(PostTrainBench), result.json with trial_name (Harbor), or a trajectory with schema_version ATIF-v1 (ATIF)"
)


def runs_in(tree: Tree) -> list[tuple[str, str]]:
    """(layout, folder) of every run, the folder "" or ending in `/`; what lies inside a run is part of it."""
    found: list[tuple[str, str]] = []
    for folder in _folders(tree):
        if any(folder.startswith(root) for _, root in found):
            continue
        if (layout := layout_of(tree, folder)) is not None:
            found.append((layout, folder))
    return found


def layout_of(tree: Tree, folder: str) -> str | None:
    return next((layout for layout, is_one in SIGNS if is_one(tree, folder)), None)


def _folders(tree: Tree) -> list[str]:
    """Every folder down to `DEPTH`, outer ones first."""
    folders = {""}
    for path in tree.sizes:
        parts = path.split("/")[:-1][:DEPTH]
        folders.update("/".join(parts[: at + 1]) + "/" for at in range(len(parts)))
    return sorted(folders, key=lambda folder: (folder.count("/"), folder))
