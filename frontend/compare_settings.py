"""How the set-ups of compared runs differ."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from benchmark.models import Run
from frontend.board.parameters import budget_words
from frontend.compare_line import Line


@dataclass(frozen=True)
class Setting:
    """`values` with whether each is another than most have."""

    name: str
    values: Sequence[tuple[str, bool]]

    @property
    def differs(self) -> bool:
        return len({value for value, _ in self.values}) > 1


def settings_of(lines: Sequence[Line]) -> list[Setting]:
    """Every known setting, the platform's first, then the versions that the run recorded."""
    told = [_told(line.run) | {"Protocol": line.story.standing.protocol} | _graded(line) for line in lines]
    names = list(dict.fromkeys(name for each in told for name in each))
    return [_setting(name, [each.get(name, "") or "not recorded" for each in told]) for name in names]


def _setting(name: str, values: list[str]) -> Setting:
    counts = Counter(values)
    most = counts.most_common(1)[0][0] if values else ""
    return Setting(name, [(value, value != most and len(counts) > 1) for value in values])


def _told(run: Run) -> dict[str, str]:
    told = {
        "Agent": f"{run.agent} {run.agent_version}".strip(),
        "Driver": run.driver,
        "Mode": str(run.get_mode_display()),
        "Task": ", ".join(run.tasks),
        "Protocol": run.protocol,
        "Base model": run.base_model,
        "Base model’s digest": run.base_digest[:12],
        "Budget": budget_words(run.budget_s),
        "Origin": str(run.get_origin_display()),
        "Sandbox": run.sandbox,
        "Host": run.worker.split(":")[0],
    }
    return told | {_named(name): _plain(value) for name, value in sorted(run.versions.items())}


def _graded(line: Line) -> dict[str, str]:
    """The versions behind the best score."""
    best = line.story.standing.best_submission
    versions = best.verdict.versions if best and best.verdict else {}
    return {f"Grader’s {str(name).replace('_', ' ')}": _plain(value) for name, value in sorted(versions.items())}


def _named(name: str) -> str:
    return str(name).replace("_", " ").capitalize()


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
