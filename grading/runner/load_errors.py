"""What an exception raised while a checkpoint is loaded means: whose fault it is and what to tell them."""

import re

from grading.runner.faults import ArtifactFault, GradingFault, InfraFault, first_line

OUT_OF_MEMORY = re.compile(
    r"out of memory|can't allocate memory|cannot allocate memory|not enough memory|No available memory for the cache",
    re.IGNORECASE,
)
ARTIFACT_PATTERNS: tuple[tuple[str, str, str, str], ...] = (
    (
        r"ignore_mismatched_sizes|size mismatch|shapes? cannot be multiplied|loaded_weight\.shape",
        "E_SHAPE",
        "tensors of the checkpoint do not have the shapes that its config.json implies",
        "Save the weights and the config of the same model (gather ZeRO-3 shards; save the config after resizing).",
    ),
    (
        r"does not recognize this architecture|Unrecognized model|are not supported for now|custom code|"
        r"LayerTypes|must be equal to the number of layer_types|Unrecognized configuration class",
        "E_ARCH",
        "config.json does not describe a causal language model that this grader knows",
        "Keep the base model's config.json: its model_type, architectures and sizes.",
    ),
    (
        r"bitsandbytes|auto_gptq|gptqmodel|autoawq|quantization|absmax",
        "E_QUANT",
        "the checkpoint is quantised",
        "Dequantise, merge in bfloat16 and save full weights.",
    ),
    (
        r"deserializing header|incomplete metadata|HeaderTooLarge|MetadataIncompleteBuffer|header too (small|large)",
        "E_TRUNCATED",
        "a safetensors file is cut off or damaged",
        "Save again, wait until saving has finished, then submit.",
    ),
    (
        r"no file named model\.safetensors|No such file or directory.*safetensors",
        "E_SHARD_MISSING",
        "a weights file is missing",
        "Submit a folder with every safetensors file that its index names.",
    ),
    (
        r"greater than the derived max_model_len|max_position_embeddings",
        "E_CONTEXT",
        "the checkpoint's context is shorter than the task needs",
        "Keep the base model's max_position_embeddings.",
    ),
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory of the device or the host ran out."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or bool(OUT_OF_MEMORY.search(str(error)))
    )


def memory_fault(error: BaseException, weights_bytes: int, device_bytes: int) -> GradingFault:
    """E_TOO_LARGE when the weights alone fill the device, else our own lack of memory."""
    detail = {"weights_bytes": weights_bytes, "device_bytes": device_bytes, "error": first_line(error)}
    if device_bytes and weights_bytes > 0.95 * device_bytes:
        return ArtifactFault(
            "E_TOO_LARGE",
            f"the weights need {weights_bytes:,} bytes; the grading device has {device_bytes:,}",
            fix="Submit a model of the base model's size, saved in the base model's dtype.",
            detail=detail,
        )
    return InfraFault("I_MEMORY", "memory ran out while grading", detail=detail)


def load_fault(error: BaseException, *, weights_bytes: int = 0, device_bytes: int = 0) -> GradingFault:
    """The typed fault for an exception raised by an engine while it loads a checkpoint."""
    if isinstance(error, GradingFault):
        return error
    if is_out_of_memory(error):
        return memory_fault(error, weights_bytes, device_bytes)
    if "Free memory on device" in str(error):
        return InfraFault(
            "I_GPU_BUSY", "the GPU's memory is in use by another process", detail={"error": first_line(error)}
        )
    for pattern, code, message, fix in ARTIFACT_PATTERNS:
        if re.search(pattern, f"{type(error).__name__}: {error}"):
            return ArtifactFault(code, message, fix=fix, detail={"error": first_line(error)})
    return InfraFault("I_ENGINE", "the engine failed to load the checkpoint", detail={"error": first_line(error)})
