"""Statistics over a run's submissions: method switches, adoption, and the numbers of the paper's table 11."""

import math
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from traces.methods.words import TRAINED, Method

CODE = frozenset({".py", ".ipynb", ".sh", ".bash"})
WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf")


@dataclass(frozen=True)
class Submitted:
    """One submission: its number from 1, its pipeline's methods in order, its score in 0–100 or `None`: not scored."""

    number: int
    methods: tuple[Method, ...]
    score: float | None

    @property
    def primary(self) -> Method:
        return self.methods[-1] if self.methods else Method.NONE

    @property
    def is_scored(self) -> bool:
        return self.score is not None and math.isfinite(self.score)


@dataclass(frozen=True)
class MethodSwitch:
    """`is_success`: the submission raised the best so far (green) or not (red); `None` when it was not scored."""

    number: int
    before: Method
    after: Method
    score: float | None
    best_before: float | None
    is_success: bool | None


def method_switches(submissions: Sequence[Submitted]) -> tuple[MethodSwitch, ...]:
    """Submissions whose primary method differs from the one before (tables 19 and 20 show such runs).

    A submission without a known method neither is a switch nor ends a stretch. The best so far is the running maximum
    of scored submissions; a first score counts as raising it.
    """
    found = []
    method: Method | None = None
    best: float | None = None
    for each in submissions:
        score = each.score if each.is_scored else None
        improved = None if score is None else best is None or score > best
        if each.primary is not Method.NONE:
            if method is not None and each.primary is not method:
                found.append(MethodSwitch(each.number, method, each.primary, score, best, improved))
            method = each.primary
        if score is not None and improved:
            best = score
    return tuple(found)


def best_submission(submissions: Sequence[Submitted]) -> Submitted | None:
    """The highest finite score, the earliest of equals; `None` when nothing was scored."""
    scored = [each for each in submissions if each.is_scored]
    return max(scored, key=lambda each: (each.score or 0.0, -each.number), default=None)


@dataclass(frozen=True)
class Adoption:
    """In how many runs a method was attempted, and in how many it is part of the best submission's pipeline."""

    attempted: int
    adopted: int

    @property
    def rate(self) -> float | None:
        return self.adopted / self.attempted if self.attempted else None


def method_adoption(runs: Iterable[Sequence[Submitted]]) -> dict[Method, Adoption]:
    """Table 18 over several runs: each method once per run. Methods that no run attempted are left out."""
    attempted: dict[Method, int] = {}
    adopted: dict[Method, int] = {}
    for run in runs:
        best = best_submission(run)
        for method in {method for each in run for method in each.methods} & TRAINED:
            attempted[method] = attempted.get(method, 0) + 1
            adopted[method] = adopted.get(method, 0) + (best is not None and method in best.methods)
    return {method: Adoption(attempted[method], adopted[method]) for method in Method if method in attempted}


def joined_adoption(rows: Mapping[Method, Adoption], methods: Iterable[Method]) -> Adoption:
    """One row for several methods, as table 18 prints KTO / ORPO: sums over methods, so a run may count twice."""
    held = [rows[method] for method in methods if method in rows]
    return Adoption(sum(each.attempted for each in held), sum(each.adopted for each in held))


@dataclass(frozen=True)
class WorkspaceStatistics:
    """One row of table 11. `zero_rate` in 0–1 and `best_at` are `None` when nothing was scored."""

    submissions: int
    scored: int
    code_files: int
    model_versions: int
    zero_rate: float | None
    best_at: int | None


def workspace_statistics(submissions: Sequence[Submitted], paths: Iterable[str]) -> WorkspaceStatistics:
    """Table 11 from a run's submissions and the paths of its workspace's files.

    The zero rate is the share of *scored* submissions with 0.0: what was not scored is no zero. `best_at` is the number
    of the submission that first reached the best score (best@k).
    """
    names = list(paths)
    scores = [each.score for each in submissions if each.is_scored]
    best = best_submission(submissions)
    return WorkspaceStatistics(
        submissions=len(submissions),
        scored=len(scores),
        code_files=count_code_files(names),
        model_versions=count_model_versions(names),
        zero_rate=sum(score == 0 for score in scores) / len(scores) if scores else None,
        best_at=best.number if best is not None else None,
    )


def count_code_files(paths: Iterable[str]) -> int:
    """Code files of a workspace (table 11): Python, notebooks and shell scripts."""
    return len({posixpath.normpath(path) for path in paths if posixpath.splitext(path)[1] in CODE})


def count_model_versions(paths: Iterable[str]) -> int:
    """Folders that hold weights (table 11); adapters count, optimiser states do not make one."""
    return len(
        {
            posixpath.dirname(posixpath.normpath(path))
            for path in paths
            if path.endswith(WEIGHTS)
            and not posixpath.basename(path).startswith(("optimizer", "scheduler", "rng_state"))
        }
    )
