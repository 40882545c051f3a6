"""Starting the engine that a spec names, with whatever goes wrong typed."""

from grading.contract import RunnerSpec
from grading.runner.checkpoint import Checkpoint
from grading.runner.engines.guarded import GuardedEngine
from grading.runner.engines.protocol import Engine
from grading.runner.faults import InfraFault, first_line
from grading.runner.load_errors import load_fault
from grading.runner.machine import device_bytes
from grading.runner.stops import Decoder

GPU_EPISODES = 256
"""Least number of episodes in flight with vLLM on a GPU: it batches as many as its memory holds."""


def episodes_in_flight(spec: RunnerSpec) -> int:
    """How many episodes are advanced at a time."""
    if spec.engine == "vllm" and spec.device != "cpu":
        return max(spec.batch_size, GPU_EPISODES)
    return spec.batch_size


def start_engine(spec: RunnerSpec, checkpoint: Checkpoint | None, decoder: Decoder | None, context: int) -> Engine:
    """The loaded engine; without a checkpoint, one that asks an endpoint. Raises: GradingFault."""
    if spec.engine == "openai" or checkpoint is None or decoder is None:
        return _elsewhere(spec, decoder)
    memory = device_bytes(spec.device)
    engine = GuardedEngine(_create(spec, checkpoint, decoder, context), checkpoint.weights_bytes, memory)
    try:
        engine.load()
    except Exception as error:
        raise load_fault(error, weights_bytes=checkpoint.weights_bytes, device_bytes=memory) from error
    return engine


def _elsewhere(spec: RunnerSpec, decoder: Decoder | None) -> Engine:
    from grading.runner.engines.openai_engine import OpenAiEngine

    engine = OpenAiEngine(spec, decoder)
    engine.load()
    return GuardedEngine(engine, weights_bytes=0, device_bytes=0)


def _create(spec: RunnerSpec, checkpoint: Checkpoint, decoder: Decoder, context: int) -> Engine:
    try:
        if spec.engine == "vllm":
            from grading.runner.engines.vllm_engine import VllmEngine

            return VllmEngine(spec, checkpoint, decoder, context, episodes_in_flight(spec))
        from grading.runner.engines.transformers_engine import TransformersEngine

        return TransformersEngine(spec, checkpoint, decoder, context)
    except ImportError as error:
        raise InfraFault("I_ENGINE", f"the engine {spec.engine} is not installed: {first_line(error)}") from error
