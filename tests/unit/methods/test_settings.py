"""Hyper-parameters are read as code writes them, and nothing is guessed."""

import pytest

from traces.methods.settings import settings_in, settings_of


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", "SFTConfig(learning_rate=1e-4, num_train_epochs=3)", {"learning rate": {1e-4}, "epochs": {3.0}}),
        ("a.py", "LoraConfig(r=32)\nre.compile(r=16)", {"LoRA rank": {32.0}}),
        ("a.py", "p.add_argument('--lr', type=float, default=2e-5)", {"learning rate": {2e-5}}),
        ("a.py", "LR = 5e-5\nlearning_rate = LR", {"learning rate": {5e-5}}),
        ("a.py", "GRPOConfig(beta=-0.1, num_generations=8)", {"beta": {-0.1}, "group size": {8.0}}),
        ("a.py", "beta = 3\nbatch_size = 4", {}),
        ("a.py", "Config(learning_rate=base / 2, epochs=True)", {}),
        ("a.py", "def broken(", {}),
        ("a.sh", "python t.py --learning_rate 1e-5 --num-train-epochs=2 --r 8", {
            "learning rate": {1e-5}, "epochs": {2.0}, "LoRA rank": {8.0}}),
        ("a.yaml", "learning_rate: 3e-4 # high\nlora_r: 16\n", {"learning rate": {3e-4}, "LoRA rank": {16.0}}),
        ("a.json", '{"epochs": 4,\n"num_train_epochs": 4\n}', {"epochs": {4.0}}),
        ("a.yaml", "learning_rate: 1e999\nepochs: -1e999\n", {}),
        ("a.txt", "learning_rate: 1", {}),
        ("a.py", "x=1\n" * 100_000, {}),
    ],
)  # fmt: skip
def test_literals_are_read(path: str, text: str, found: dict[str, set[float]]) -> None:
    assert {name: set(values) for name, values in settings_in(path, text).items()} == found


def test_several_files_add_up() -> None:
    assert settings_of([("a.py", "lr = 1e-5"), ("b.py", "lr = 2e-5")]) == {"learning rate": frozenset({1e-5, 2e-5})}
