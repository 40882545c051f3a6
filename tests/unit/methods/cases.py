"""The labelled corpus: `corpus/labels.yaml` names each case, `corpus/NAME.txt` holds its files."""

from dataclasses import dataclass, field
from pathlib import Path

import yaml

from traces.methods import Method, MethodReport, label_submission

CORPUS = Path(__file__).parent / "corpus"
MARK = ">>> "


@dataclass(frozen=True)
class Case:
    """What is given to the labeller, and the methods that it should find, in pipeline order."""

    name: str
    set: str
    methods: tuple[Method, ...]
    commands: tuple[str, ...] = ()
    model_path: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)

    def label(self) -> MethodReport:
        return label_submission(
            self.files, commands=self.commands, model_path=self.model_path, base_model_path="models/base"
        )


def files_of(text: str) -> dict[str, bytes]:
    """Files of one text: each begins after a line `>>> path`."""
    files: dict[str, str] = {}
    name = ""
    for line in text.splitlines(keepends=True):
        if line.startswith(MARK):
            name = line.removeprefix(MARK).strip()
            files[name] = ""
        elif name:
            files[name] += line
    return {path: content.encode() for path, content in files.items()}


def cases() -> list[Case]:
    labels = yaml.safe_load((CORPUS / "labels.yaml").read_text())
    return [
        Case(
            name=name,
            set=entry["set"],
            methods=tuple(Method(each) for each in entry["methods"]),
            commands=tuple(entry.get("commands", ())),
            model_path=entry.get("model_path"),
            files=files_of((CORPUS / f"{name}.txt").read_text()),
        )
        for name, entry in labels.items()
    ]


def label(text: str, *commands: str, model_path: str | None = None) -> MethodReport:
    """The label of files in one text."""
    return label_submission(files_of(text), commands=commands, model_path=model_path, base_model_path="models/base")


def program(code: str) -> MethodReport:
    """The label of one program, started by a known command."""
    return label(f"{MARK}train.py\n{code}", "python train.py")
