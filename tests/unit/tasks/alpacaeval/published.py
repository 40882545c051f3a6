"""AlpacaEval's published judgements and results, as the test data has them."""

import csv
import gzip
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmark.tasks.alpacaeval.length_control import Annotation, Gamed, Weights
from benchmark.tasks.alpacaeval.rates import of_annotation


@dataclass(frozen=True)
class Published:
    """What `alpacaeval/` of the test data holds. Models by name."""

    annotations: dict[str, list[Annotation]]
    """Judgements that could be read."""
    board: dict[str, dict[str, str]]
    weights: dict[str, Weights]
    difficulties: list[float]
    gamed: list[Gamed]


def read_published(folder: Path) -> Published:
    difficulties = [
        float(row["instruction_difficulty"]) for row in _csv(folder / "instruction_difficulty.REESTIMATED.csv")
    ]
    annotations = defaultdict(list)
    with gzip.open(folder / "annotations_compact.csv.gz", "rt", newline="") as handle:
        for row in csv.DictReader(handle):
            preference = of_annotation(float(row["preference"] or math.nan))
            if preference is not None:
                lengths = int(row["len_output_1"]), int(row["len_output_2"])
                annotations[row["model"]].append(Annotation(preference, *lengths, difficulties[int(row["index"])]))
    return Published(
        annotations=dict(annotations),
        board={row[""]: row for row in _csv(folder / "weighted_alpaca_eval_gpt4_turbo_leaderboard.csv")},
        weights={
            row[""]: Weights(
                length=float(row["np.tanh(std_delta_len)"]),
                difficulty=float(row["instruction_difficulty"]),
                model=float(row["not_gamed_baseline.astype(float)"]),
            )
            for row in _csv(folder / "lc_weights_baseline_gpt4_1106_preview.csv")
        },
        difficulties=difficulties,
        gamed=[
            Gamed(float(row["preference"]), float(row["std_delta_len"]), float(row["instruction_difficulty"]))
            for row in _csv(folder / "df_gamed.RECONSTRUCTED.csv")
        ],
    )


def _csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))
