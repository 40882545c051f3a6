"""The grader's loop over a task's training items, for collecting trajectories. See README.md beside this file.

from rollouts import items, play

for trajectory in play(generate, items()[:64]):
    trajectory.reward, trajectory.steps
"""

import sys
from pathlib import Path

# Where agents get this package, the task's code lies in `lib`; in the platform's own tree it is importable already.
_LIB = Path(__file__).resolve().parent / "lib"
if _LIB.is_dir():
    sys.path.insert(0, str(_LIB))

from .playing import Generate, Prompt, Step, Trajectory, play_episodes  # noqa: E402
from .task import NoServices, Rollouts, items, open_rollouts, play  # noqa: E402

__all__ = [
    "Generate",
    "NoServices",
    "Prompt",
    "Rollouts",
    "Step",
    "Trajectory",
    "items",
    "open_rollouts",
    "play",
    "play_episodes",
]
