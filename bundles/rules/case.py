"""What the rules look at, and what they leave behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bundles.dialects.facts import RunFacts
from bundles.format.tree import Tree
from bundles.rules.known import Known
from bundles.rules.transcripts import TranscriptFacts


@dataclass
class Case:
    """One run of a bundle. `tree` is the whole archive, paths are relative to its top."""

    tree: Tree
    run: RunFacts
    now: datetime
    known: Known = field(default_factory=Known)
    manifest: dict[str, Any] = field(default_factory=dict)
    transcripts: list[TranscriptFacts] = field(default_factory=list)
    inner: RunFacts | None = None
    """The same run as the layout inside a manifested bundle tells it."""

    @property
    def layout(self) -> str:
        """Of the files, also below a manifest."""
        return str(self.run.manifest.get("layout") or self.run.layout)

    @property
    def submits_itself(self) -> bool:
        """Whether the agent asks a grading server; elsewhere the last checkpoint is evaluated after the end."""
        return self.layout not in ("posttrainbench", "harbor")
