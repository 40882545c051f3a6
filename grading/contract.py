"""What the grading room's parts say to each other. No Django, no GPU library: the stand-alone runner imports it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

SPEC_VERSION = 1
EngineName = Literal["transformers", "vllm", "openai"]
Fault = Literal["artifact", "infra"]


@dataclass(frozen=True)
class Finding:
    """Something wrong or odd: E_* refuses the checkpoint, W_* goes with a score, I_* is ours.

    F_* goes with a score that looks like gaming the grader, so that people see both.
    """

    code: str
    message: str
    fix: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    """JSON: file, tensor, expected, found, … as far as they apply."""

    @property
    def refuses(self) -> bool:
        return self.code.startswith("E_")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class RunnerSpec:
    """`spec.json`: everything that decides a score. Paths are those inside the runner's sandbox."""

    protocol: str
    task_dir: str
    held_out: str
    checkpoint: str
    reference: str
    """The base model's folder: its chat template is the grader's template.

    With the engine `openai`, `checkpoint` and `reference` may both be empty: prompts are then sent as chat messages.
    """
    engine: EngineName = "transformers"
    device: str = "cpu"
    dtype: str = "float32"
    batch_size: int = 32
    """Prompts generated at once (transformers) or episodes in flight (both engines)."""
    limit: int | None = None
    """Only the first N items: a different, unranked protocol."""
    max_model_len: int | None = None
    seed: int = 0
    threads: int | None = None
    batch_invariant: bool = False
    """vLLM on a GPU computes each sequence as if it were alone, so that company never decides between tokens."""
    endpoint: str | None = None
    """What the endpoint calls the model: for the engine `openai`, which asks through `outside`."""
    held_out_sha256: str | None = None
    """Of the held-out folder as it was prepared (benchmark/tasks/held_out.py); None: not compared."""
    held_out_items: int | None = None
    """How many items the task declares; None: not compared."""
    outside: str | None = None
    """The UNIX socket that answers what the evaluator asks of the world outside (tasks/services_contract.py)."""
    version: int = SPEC_VERSION


@dataclass(frozen=True)
class RunnerVerdict:
    """`verdict.json`: a score in 0..100 with what it rests on, or a typed failure; never both."""

    protocol: str
    score: float | None
    n_expected: int
    n_scored: int
    fault: Fault | None = None
    finding: Finding | None = None
    """Why there is no score; set exactly when `score` is None."""
    warnings: tuple[Finding, ...] = ()
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    """Everything that touched the score: python, torch, transformers, vllm, engine, dtype, device, template hash, …"""
    sampling: Mapping[str, Any] = field(default_factory=dict)
    tokens: int = 0
    seconds: float = 0.0
    seconds_loading: float = 0.0
    samples_sha256: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
