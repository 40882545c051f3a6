"""What is measured of each compared run, and which is best where one direction is better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from frontend import formats
from frontend.compare_line import Line
from frontend.formats import DASH

HIGHER, LOWER, NEITHER = 1, -1, 0


@dataclass(frozen=True)
class Value:
    """`number` decides which is best; None: unknown."""

    text: str
    number: float | None
    best: bool = False


@dataclass(frozen=True)
class Measure:
    title: str
    note: str
    values: Sequence[Value]


def measures(lines: Sequence[Line], *, ranked: bool, baseline: float | None) -> list[Measure]:
    """Scores are marked only where they may be `ranked` against each other; `baseline` is the one all share."""
    beside = f"Gain over baseline {formats.score(baseline)}" if baseline is not None else "Gain over its baseline"
    score = HIGHER if ranked else NEITHER
    rows: tuple[tuple[str, str, int, Callable[[Line], Value]], ...] = (
        ("Best score", "", score, _best),
        (beside, "points", score, _gain),
        ("Standard error of the best", "points", NEITHER, _error),
        ("Submissions", "", NEITHER, lambda line: _count(line.story.total)),
        ("Scored share", "of all submissions", HIGHER, _scored_share),
        ("First above baseline", "time since the start", LOWER if ranked else NEITHER, _first_above),
        ("Best reached", "time since the start", NEITHER, lambda line: _time(line.story.standing.best_elapsed_s)),
        ("Method switches", "that raised the best score", NEITHER, _switches),
        ("Route", "by training code", NEITHER, _route),
        ("Time used", "of the budget", NEITHER, _time_used),
        ("Tokens", "", LOWER, lambda line: Value(formats.count(line.run.tokens), line.run.tokens)),
        ("Cost", "US dollars", LOWER, _cost),
    )
    told = [_measure(title, note, better, [read(line) for line in lines]) for title, note, better, read in rows]
    return [each for each in told if each.title != "Cost" or any(value.number is not None for value in each.values)]


def _measure(title: str, note: str, better: int, values: list[Value]) -> Measure:
    known = [value.number for value in values if value.number is not None]
    if better == NEITHER or len(set(known)) < 2:
        return Measure(title, note, values)
    top = max(known, key=lambda number: better * number)
    return Measure(title, note, [Value(v.text, v.number, v.number == top) for v in values])


def _best(line: Line) -> Value:
    standing = line.story.standing
    if standing.flag_reason:
        return Value(f"{formats.score(standing.value)} (raw {formats.score(standing.best)})", standing.value)
    return Value(formats.score(standing.value), standing.value)


def _gain(line: Line) -> Value:
    standing, gain = line.story.standing, line.story.standing.improvement
    approx = " ≈" if formats.within_noise(gain, standing.best_error) else ""
    return Value((formats.gain(gain) or DASH) + approx, gain)


def _error(line: Line) -> Value:
    error = line.story.standing.best_error
    return Value(DASH if error is None else f"± {error:.2f}", error)


def _count(number: int) -> Value:
    return Value(f"{number:,}" if number else DASH, number or None)


def _scored_share(line: Line) -> Value:
    ended = line.story.standing.submissions
    return _share(line.story.standing.scored / ended if ended else None)


def _share(share: float | None) -> Value:
    return Value(DASH if share is None else f"{100 * share:.0f}%", share)


def _time(seconds: float | None) -> Value:
    return Value(formats.clock(seconds), seconds)


def _first_above(line: Line) -> Value:
    first = line.story.first_above
    return _time(first.elapsed_s if first else None)


def _switches(line: Line) -> Value:
    if not line.story.labels:
        return Value(DASH, None)
    switches = line.story.switches
    return Value(f"{sum(bool(each.is_success) for each in switches)} of {len(switches)}", float(len(switches)))


def _route(line: Line) -> Value:
    return Value(line.story.route.route.value if line.story.route else DASH, None)


def _time_used(line: Line) -> Value:
    used = line.run.elapsed_s()
    return _share(min(1.0, used / line.run.budget_s) if used is not None and line.run.budget_s else None)


def _cost(line: Line) -> Value:
    return Value(DASH if line.cost is None else f"{line.cost:.2f}", line.cost)
