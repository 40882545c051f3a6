"""A paper's printed results, as data: read with `scores()`, `designs()`, `behaviour()` and `terms()`.

They are facts of that paper, never of runs made here: no count may be derived from a published score, and none of them
enters a statistic over local runs.
"""

from frontend.published.reader import Behaviour, Scores, Terms, behaviour, designs, scores, terms

__all__ = ["Behaviour", "Scores", "Terms", "behaviour", "designs", "scores", "terms"]
