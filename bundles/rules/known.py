"""What a platform knows, for the rules that ask. Offline nothing is known and those rules keep silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Known:
    tasks: Mapping[str, str] = field(default_factory=dict)
    """Task → protocol that is ranked. Empty: not known."""
    base_models: Sequence[str] = ()
    held_out_words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Task → names of held-out files and data sets, in lower case."""
