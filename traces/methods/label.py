"""The label of one submission: from its code, the commands that were run, and the checkpoint that was submitted."""

import posixpath
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from traces.methods.commands import Commands
from traces.methods.core import Budget, OutOfBudget, Place
from traces.methods.reader import Reader
from traces.methods.sources import SCRIPTS, Sources
from traces.methods.store import Step, Store, clean
from traces.methods.words import Evidence, Method, MethodFinding, MethodReport

TIME_LIMIT_S = 2.0
NO_COMMAND = "no command that started it is known"
NO_PATH = "not known to have written the submitted checkpoint"
IMPLIED = "not known to have been run; it writes what was used"
INTERESTING = re.compile(
    r"\.train\(|backward|save_pretrained|save_file|torch\.save|subprocess|os\.system|_shell|copytree|\.step\(|\.fit\("
    r"|merge|symlink|snapshot_download|\.generate\("
)


def label_submission(
    code: Path | Mapping[str, bytes],
    *,
    commands: Sequence[str] = (),
    model_path: str | None = None,
    base_model_path: str | None = None,
    time_limit_s: float = TIME_LIMIT_S,
) -> MethodReport:
    """Judge which methods made the checkpoint at `model_path`, from what the code would do. Nothing is executed.

    `code` is a folder or path → content. `commands` are the command lines that the agent ran, in order; without them
    every script that nothing else imports is taken to have run, at a lower confidence. Never raises for what the code
    is; what could not be judged is in the report's notes.
    """
    deadline = time.monotonic() + time_limit_s
    sources = Sources.of_folder(code, deadline=deadline) if isinstance(code, Path) else Sources.of_mapping(code)
    judged = _Judgement(sources, Budget(deadline), base_model_path)
    judged.run(list(commands), model_path)
    return judged.report(model_path)


@dataclass
class _Judgement:
    sources: Sources
    budget: Budget
    base_path: str | None
    store: Store = field(default_factory=Store)
    side: Store = field(default_factory=Store)
    is_complete: bool = True
    is_given: bool = False
    _side_is_read: bool = False
    _programs: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.commands = Commands(self.sources, self.store, self.budget, self._reader)

    def _reader(self) -> Reader:
        reader = Reader(self.sources, self.store, self.budget, self.commands.run)
        reader.base_path = self.base_path
        reader.lookup_tags = self._tags
        reader.lookup_lineage = self._lineage
        return reader

    def run(self, commands: list[str], model_path: str | None) -> None:
        try:
            for command in commands:
                self.commands.run(command, {}, Place("(command)"))
            self.is_given = bool(self.commands.launched or self.commands.has_understood or self.store.steps)
            if not self.is_given:
                self._run_roots(self.commands, NO_COMMAND if not commands else "no command in the transcript starts it")
            elif model_path is not None and self._found(model_path) is None:
                self._read_side()
        except OutOfBudget:
            self.is_complete = False
        except RecursionError:
            self.store.note("", None, "nested too deeply; read only in part")

    def _run_roots(self, commands: Commands, doubt: str) -> None:
        """Every program that no other file imports or starts, shell scripts first."""
        self._programs = self._roots()
        for path in self._programs:
            if path in commands.launched:
                continue
            place = Place(path, folder=posixpath.dirname(path), doubts=(doubt,))
            if path.endswith((".sh", ".bash")):
                commands.script(path, [], {}, place)
            else:
                commands.program(path, None, {}, place)

    def _roots(self) -> list[str]:
        scripts = [path for path in self.sources.texts if posixpath.splitext(path)[1] in SCRIPTS]
        vendored = _vendored(self.sources)
        imported = _imported(self.sources)
        telling = _telling(self.sources)
        shells = [path for path in scripts if path.endswith((".sh", ".bash"))]
        programs = [
            path
            for path in scripts
            if path not in shells and path not in imported and not path.startswith(vendored) and path in telling
        ]
        return sorted(shells, key=_version_key) + sorted(programs, key=_version_key)

    def _read_side(self) -> None:
        """Programs that were not started, as far as is known: what they would write tells where things came from."""
        if self._side_is_read:
            return
        self._side_is_read = True
        side = _Judgement(self.sources, self.budget, self.base_path, store=self.side)
        side._side_is_read = True
        side.commands.launched |= self.commands.launched
        side._run_roots(side.commands, IMPLIED)

    def _tags(self, path: str) -> frozenset[str] | None:
        known = self.store.file_tags(path)
        if known is None and self.sources.find(path) is None:
            self._read_side()
            known = self.side.file_tags(path)
        return known

    def _lineage(self, path: str) -> tuple[Step, ...] | None:
        known = self.store.lineage(path)
        if known is None and not path.startswith("$") and "*" not in path:
            self._read_side()
            known = self.side.lineage(path)
        return known

    def _found(self, model_path: str | None) -> tuple[Step, ...] | None:
        return self.store.lineage(model_path) or self.side.lineage(model_path) if model_path else None

    def report(self, model_path: str | None) -> MethodReport:
        found = self._found(model_path)
        steps = list(found if found is not None else self.store.steps.values())
        if found is None and model_path is not None and len({step.method for step in steps}) > 1:
            for step in steps:
                step.doubts = (*step.doubts, NO_PATH)
        if found is None and not self.is_given:
            steps.sort(key=lambda step: _ORDER[step.method])
        if any(step.method is not Method.COPY for step in steps):
            steps = [step for step in steps if step.method is not Method.COPY]
        findings = tuple(
            MethodFinding(step.method, Evidence(step.file, step.line, step.why), step.doubts) for step in steps
        )
        return MethodReport(
            methods=_in_order(findings),
            findings=findings,
            notes=(*self.sources.notes, *self.store.notes, *self._limits()),
            files_read=self.sources.read,
            files_seen=self.sources.seen,
            trains_unknown=self.store.trains_unknown,
        )

    def _limits(self) -> list[Evidence]:
        notes = []
        if self.sources.read < self.sources.seen:
            notes.append(Evidence("", None, f"{self.sources.read} of {self.sources.seen} files read"))
        if not self.is_complete:
            done = sum(path in self.commands.launched for path in self._programs)
            which = f" after {done} of {len(self._programs)} programs" if self._programs else ""
            notes.append(Evidence("", None, f"the time limit was reached{which}; judged by what was read until then"))
        return notes


_ORDER = {method: place for place, method in enumerate(Method)}
_ORDER[Method.COPY] = -1
_ORDER[Method.DISTILLATION] = _ORDER[Method.SFT]


def _in_order(findings: Sequence[MethodFinding]) -> tuple[Method, ...]:
    """Each method once, by its last use: the last is what made the checkpoint."""
    last = {finding.method: place for place, finding in enumerate(findings)}
    return tuple(sorted(last, key=lambda method: last[method]))


def _version_key(path: str) -> list[tuple[int, int | str]]:
    """train_v2 before train_v10."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", path) if part]


def _vendored(sources: Sources) -> tuple[str, ...]:
    """Folders that hold a copy of a library: a file says so beside a package of many files."""
    folders = {posixpath.dirname(path) for path in sources.texts if posixpath.basename(path) == "setup.py"}
    return tuple(f"{clean(folder)}/" for folder in folders if folder)


IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]*)[ \t]+import[ \t]+([^#\n]+)|import[ \t]+([^#\n]+))", re.M)


def _words_imported(text: str) -> set[str]:
    """Every word of a file's import statements, by a quick look."""
    wholes = (" ".join(part for part in match.groups() if part) for match in IMPORT.finditer(text))
    return {word for whole in wholes for word in re.findall(r"\w+", whole)}


def _telling(sources: Sources) -> set[str]:
    """Files that do something to a model, and those that import one that does, over any number of steps."""
    scripts = {path: text for path, text in sources.texts.items() if posixpath.splitext(path)[1] in SCRIPTS}
    found = {path for path, text in scripts.items() if INTERESTING.search(text)}
    imports = {path: _words_imported(text) for path, text in scripts.items()}
    while True:
        names = {posixpath.basename(path).removesuffix(".py") for path in found if path.endswith(".py")}
        more = {path for path, words in imports.items() if path not in found and words & names}
        if not more:
            return found
        found |= more


def _imported(sources: Sources) -> set[str]:
    """Files whose module name another file imports, by a quick look at the text."""
    names: dict[str, set[str]] = {}
    for path, text in sources.texts.items():
        if path.endswith((".py", ".ipynb")):
            for word in _words_imported(text):
                names.setdefault(word, set()).add(path)
    found = set()
    for path in sources.texts:
        name = posixpath.basename(path).removesuffix(".py")
        if path.endswith(".py") and names.get(name, set()) - {path}:
            found.add(path)
    return found
