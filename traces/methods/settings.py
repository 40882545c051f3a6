"""Hyper-parameters as training code writes them: keywords, defaults of options, and options in shell commands.

A small reader beside the labeller, which follows values but does not keep them. It takes literal numbers under known
names, nothing that would have to be computed.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

NAMES: Mapping[str, tuple[str, ...]] = {
    "learning rate": ("learning_rate", "lr"),
    "LoRA rank": ("lora_r", "lora_rank", "r"),
    "epochs": ("num_train_epochs", "epochs", "num_epochs", "n_epochs"),
    "batch size": ("per_device_train_batch_size", "train_batch_size", "batch_size"),
    "gradient accumulation": ("gradient_accumulation_steps", "grad_accum"),
    "steps": ("max_steps",),
    "group size": ("num_generations", "group_size"),
    "beta": ("beta", "kl_coef"),
    "temperature": ("temperature",),
    "sequence length": ("max_seq_length", "max_length", "max_seq_len"),
    "warm-up ratio": ("warmup_ratio",),
}
"""What a setting is called, and under which names code writes it."""
SETTING_OF = {name: setting for setting, names in NAMES.items() for name in names}
WEAK = frozenset({"r", "temperature", "batch_size", "max_length", "beta"})
"""Names that mean other things elsewhere: taken from calls of these alone."""
CALLS = re.compile(r"(Config|Arguments|Args|LoraConfig|Trainer)$")
CHARS_MOST = 200_000
NUMBER_MOST = 1e12
"""Larger numbers, infinity among them, are no setting."""
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
WORDS = "|".join(sorted(SETTING_OF, key=len, reverse=True))
OPTION = re.compile(rf"(?<![\w-])--?({WORDS.replace('_', '[_-]')})[= ]\s*({NUMBER})(?![\w.])")
KEY = re.compile(rf"^\s*[\"']?({WORDS})[\"']?\s*[:=]\s*({NUMBER})\s*,?\s*(?:#.*)?$", re.MULTILINE)


def settings_in(path: str, text: str) -> dict[str, frozenset[float]]:
    """By setting, every number that one file gives it; code that cannot be parsed has none."""
    found: dict[str, set[float]] = defaultdict(set)
    if len(text) > CHARS_MOST:
        return {}
    if path.endswith(".py"):
        _python(text, found)
    elif path.endswith((".sh", ".bash", ".yaml", ".yml", ".json", ".toml")):
        pairs = [*OPTION.findall(text), *(KEY.findall(text) if not path.endswith((".sh", ".bash")) else [])]
        for name, number in pairs:
            if abs(float(number)) < NUMBER_MOST:
                found[SETTING_OF[name.replace("-", "_")]].add(float(number))
    return {setting: frozenset(values) for setting, values in found.items()}


def settings_of(files: Iterable[tuple[str, str]]) -> dict[str, frozenset[float]]:
    """Of several files together."""
    found: dict[str, set[float]] = defaultdict(set)
    for path, text in files:
        for setting, values in settings_in(path, text).items():
            found[setting] |= values
    return {setting: frozenset(values) for setting, values in found.items()}


def _python(text: str, found: dict[str, set[float]]) -> None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            _call(node, found)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name):
                    _take(target.id.lower(), node.value, found, strong=True)


def _call(node: ast.Call, found: dict[str, set[float]]) -> None:
    callee = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    trains = bool(CALLS.search(callee))
    if callee == "add_argument":
        names = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        default = next((word.value for word in node.keywords if word.arg == "default"), None)
        for name in names:
            _take(name.lstrip("-").replace("-", "_"), default, found, strong=False)
        return
    for word in node.keywords:
        if word.arg:
            _take(word.arg, word.value, found, strong=not trains)


def _take(name: str, value: ast.expr | None, found: dict[str, set[float]], *, strong: bool) -> None:
    """`strong`: only names that mean one thing."""
    setting = SETTING_OF.get(name)
    if setting is None or (strong and name in WEAK):
        return
    number = _number(value)
    if number is not None:
        found[setting].add(number)


def _number(value: ast.expr | None) -> float | None:
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = _number(value.operand)
        return None if inner is None else -inner
    if isinstance(value, ast.Constant) and isinstance(value.value, int | float) and not isinstance(value.value, bool):
        return float(value.value) if abs(value.value) < NUMBER_MOST else None
    return None
