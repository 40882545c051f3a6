"""What a shopper is asked for."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Goal:
    """One request, the product that it was made from, and what the purchase is measured against."""

    id: str
    instruction: str
    asin: str
    attributes: tuple[str, ...]
    options: Mapping[str, str]
    price_upper: float
    """Dollars; 1,000,000 where the request names no limit."""

    def as_json(self) -> str:
        """One line of a goals file."""
        return json.dumps(asdict(self), ensure_ascii=False)


def read_goals(path: Path) -> list[Goal]:
    """Every goal of a JSON-lines file, in order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [Goal(**{**row, "attributes": tuple(row["attributes"])}) for row in rows]


def write_goals(path: Path, goals: Iterable[Goal]) -> None:
    path.write_text("".join(goal.as_json() + "\n" for goal in goals), encoding="utf-8")
