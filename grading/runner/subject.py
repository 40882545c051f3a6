"""What is graded: an opened checkpoint, or a model elsewhere, and how it is spoken to."""

from dataclasses import dataclass
from pathlib import Path

from grading.contract import RunnerSpec
from grading.runner.checkpoint import Checkpoint, load_renderer, open_checkpoint
from grading.runner.prompts import ContextLimit, Encoder, MessageEncoder, PromptEncoder
from grading.runner.stops import Decoder, StopTokens

NO_STOPS = StopTokens((), (), ())


@dataclass(frozen=True)
class Subject:
    """Without a checkpoint there are no decoder and no stop tokens either: the endpoint has its own."""

    encoder: Encoder
    checkpoint: Checkpoint | None = None
    decoder: Decoder | None = None
    stops: StopTokens = NO_STOPS
    end_of_turn: str | None = None
    context: int = 0


def open_subject(spec: RunnerSpec) -> tuple[Subject, dict[str, str]]:
    """The spec's subject, and what of it touches the score. Raises: GradingFault."""
    if not spec.checkpoint:
        return Subject(MessageEncoder()), {}
    renderer = load_renderer(Path(spec.reference))
    checkpoint = open_checkpoint(Path(spec.checkpoint), renderer)
    stops = StopTokens.read(checkpoint.path, checkpoint.tokenizer)
    limit = ContextLimit.choose(spec.max_model_len, checkpoint.positions)
    subject = Subject(
        encoder=PromptEncoder(renderer, checkpoint.tokenizer, limit, checkpoint.rows),
        checkpoint=checkpoint,
        decoder=Decoder(checkpoint.tokenizer, stops.ids),
        stops=stops,
        end_of_turn=renderer.end_of_turn(),
        context=limit.tokens,
    )
    versions = {"template": renderer.template, "template_sha256": renderer.sha256, "context": str(limit.tokens)}
    return subject, versions
