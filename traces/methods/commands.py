"""Commands: which program a command line starts, through all its wrappers, and what that program does."""

import posixpath
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from traces.methods.core import Budget, Place
from traces.methods.file_calls import settings as parse_settings
from traces.methods.frameworks import Launch, Settings, of_module, of_program, of_script
from traces.methods.model_calls import is_base
from traces.methods.reader import Reader
from traces.methods.shell import Call, Shell
from traces.methods.sources import Sources
from traces.methods.store import Step, Store, merged
from traces.methods.words import Method
from traces.methods.wrappers import unwrapped

LAUNCHERS = frozenset({"torchrun", "deepspeed", "accelerate", "accelerate-launch", "colossalai"})
PYTHON = re.compile(r"^(python|pypy)[\d.]*$")
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "source", "."})
DISTRIBUTED = frozenset(
    {"torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch", "deepspeed"}
)
SETTINGS_SUFFIXES = (".yaml", ".yml", ".json")
MAX_DEPTH = 6
MAX_ROUNDS = 16
"""How often one script is followed."""


class Commands:
    """Follows commands into scripts; `new_reader` makes a reader whose `run_command` is `run`."""

    def __init__(self, sources: Sources, store: Store, budget: Budget, new_reader: Callable[[], Reader]) -> None:
        self.sources = sources
        self.store = store
        self.budget = budget
        self.launched: set[str] = set()
        self.has_understood = False
        """Whether a command was one of a known framework's."""
        self._running: list[str] = []
        self._rounds: dict[str, int] = {}
        self.base_path: str | None = None
        self._new_reader = new_reader
        self._depth = 0

    def run(self, command: str | list[str], environment: dict[str, str], place: Place) -> None:
        """What running `command`, a line or its words, does."""
        if self._depth >= MAX_DEPTH:
            return
        self._depth += 1
        try:
            if isinstance(command, str):
                self._shell(command, environment, place)
            else:
                call = Call(list(command), environment, place.line, place.folder, None, None, place.doubts)
                self.visit(call, place.file)
        finally:
            self._depth -= 1

    def script(self, path: str, arguments: list[str], environment: dict[str, str], place: Place) -> None:
        """A shell script of the folder."""
        if self._enter(path):
            self._shell(self.sources.texts[path], environment, replace(place, file=path, line=1), arguments)
            self._running.pop()

    def program(self, path: str, argv: list[str] | None, environment: dict[str, str], place: Place) -> None:
        """A Python program of the folder; `argv` None: its command line is not known."""
        if self._enter(path):
            reader = self._new_reader()
            reader.doubts = list(place.doubts)
            reader.run_program(path, argv, environment, place.folder)
            self._running.pop()

    def _enter(self, path: str) -> bool:
        """Whether to follow into `path`: not from within itself, and not for ever."""
        self.budget.check()
        self.launched.add(path)
        self._rounds[path] = self._rounds.get(path, 0) + 1
        if path in self._running or self._rounds[path] > MAX_ROUNDS:
            return False
        self._running.append(path)
        return True

    def _shell(self, text: str, environment: dict[str, str], place: Place, arguments: list[str] | None = None) -> None:
        def visit(call: Call) -> None:
            call.line += place.line - 1
            self.visit(call, place.file)

        shell = Shell(
            visit, variables=dict(environment), positional=arguments or [], folder=place.folder, doubts=place.doubts
        )
        shell.exported = dict(environment)
        shell.run(text)

    def visit(self, call: Call, file: str) -> None:
        self.budget.check()
        words = unwrapped(call.words, call.environment)
        if not words:
            return
        program, rest = posixpath.basename(words[0]), words[1:]
        if PYTHON.match(program):
            self._python(rest, call, file)
        elif program in LAUNCHERS:
            self._launcher(program, rest, call, file)
        elif program in SHELLS:
            self._bash(rest, call, file)
        elif program == "ray" and "--" in rest:
            self.run(rest[rest.index("--") + 1 :], call.environment, call.place(file))
        elif program in ("tmux", "screen", "srun"):
            self._session(program, rest, call, file)
        elif program in ("cp", "mv", "ln", "rsync"):
            self._copy(program, rest, call, file)
        elif program == "cat" and call.heredoc is not None and call.target:
            self.sources.add_text(posixpath.normpath(posixpath.join(call.folder, call.target)), call.heredoc)
        elif words[0].endswith((".sh", ".py")):
            starter = "bash" if words[0].endswith(".sh") else "python"
            self.run([starter, *words], call.environment, call.place(file))
        else:
            found = of_program(program, rest, self._settings(rest, call.folder))
            self._done(found, call, file)

    def _python(self, words: list[str], call: Call, file: str) -> None:
        words = list(words)
        while words and words[0].startswith("-") and words[0] not in ("-m", "-c", "-"):
            words = words[2:] if words[0] in ("-W", "-X") else words[1:]
        if not words or words[0] == "-":
            if call.heredoc is not None:
                self._inline(call.heredoc, call, file)
        elif words[0] == "-c" and len(words) > 1:
            self._inline(words[1], call, file)
        elif words[0] == "-m" and len(words) > 1:
            self._module(words[1], words[2:], call, file)
        else:
            self._script(words[0], words[1:], call, file)

    def _inline(self, text: str, call: Call, file: str) -> None:
        name = f"{file} (inline program, line {call.line})"
        self.sources.add_text(name, text)
        self.program(name, [], call.environment, call.place(file))

    def _module(self, dotted: str, rest: list[str], call: Call, file: str) -> None:
        if dotted in DISTRIBUTED:
            self._launcher("torchrun", rest, call, file)
            return
        for name in (dotted.replace(".", "/") + ".py", dotted.replace(".", "/") + "/__main__.py"):
            found = self.sources.find(name, near=call.folder)
            if found is not None and not dotted.startswith(("trl.", "verl.", "openrlhf.", "axolotl.")):
                self.program(found, rest, call.environment, call.place(file))
                return
        self._done(of_module(dotted, self._settings(rest, call.folder)), call, file)

    def _script(self, path: str, rest: list[str], call: Call, file: str) -> None:
        found = self.sources.find(path, near=call.folder)
        if found is not None and found.endswith((".py", ".ipynb")):
            self.program(found, rest, call.environment, call.place(file))
            return
        launch = of_script(path, self._settings(rest, call.folder))
        if launch is None and path.endswith(".py"):
            self.store.note(file, call.line, f"starts {path}, which is not among the files")
        self._done(launch, call, file)

    def _launcher(self, program: str, rest: list[str], call: Call, file: str) -> None:
        """torchrun, accelerate launch, deepspeed: the first script or `-m module` is what runs."""
        words = rest[1:] if program == "accelerate" and rest[:1] == ["launch"] else rest
        if program == "accelerate" and rest[:1] != ["launch"]:
            return
        for place, word in enumerate(words):
            if word in ("-m", "--module") and place + 1 < len(words):
                self._module(words[place + 1], words[place + 2 :], call, file)
                return
            if word.endswith(".py"):
                self._script(word, words[place + 1 :], call, file)
                return

    def _bash(self, words: list[str], call: Call, file: str) -> None:
        words = list(words)
        while words and words[0].startswith("-"):
            flag = words.pop(0)
            if "c" in flag and not flag.startswith("--") and words:
                self.run(words[0], call.environment, call.place(file))
                return
        found = self.sources.find(words[0], near=call.folder) if words else None
        if found is not None and self._depth < MAX_DEPTH:
            self._depth += 1
            self.script(found, words[1:], call.environment, call.place(file))
            self._depth -= 1
        elif words:
            self.store.note(file, call.line, f"starts {words[0]}, which is not among the files")
        elif call.heredoc is not None:
            self.run(call.heredoc, call.environment, call.place(file))

    def _session(self, program: str, rest: list[str], call: Call, file: str) -> None:
        quoted = [word for word in rest if " " in word]
        if quoted:
            self.run(quoted[-1], call.environment, call.place(file))
            return
        for place, word in enumerate(rest):
            if PYTHON.match(posixpath.basename(word)) or word in LAUNCHERS | SHELLS:
                self.run(rest[place:], call.environment, call.place(file))
                return

    def _copy(self, program: str, rest: list[str], call: Call, file: str) -> None:
        flags = "".join(word for word in rest if word.startswith("-"))
        paths = [word for word in rest if not word.startswith("-")]
        if len(paths) < 2 or (program == "cp" and not set("raR") & set(flags)):
            return
        source, target = paths[0].rstrip("/*"), paths[-1].rstrip("/")
        lineage = self.store.lineage(source)
        reader = self._new_reader()
        if not lineage and is_base(reader, source):
            step = Step(Method.COPY, file, call.line, f"{program}: {source} unchanged", call.doubts)
            lineage = (self.store.step(step),)
        if lineage is not None:
            self.store.saved(target, lineage)

    def _settings(self, words: list[str], folder: str) -> Settings:
        """The words, and the first configuration file that they name."""
        names = [part for word in words for part in (word, word.partition("=")[2]) if part.endswith(SETTINGS_SUFFIXES)]
        name = next((word for place, word in enumerate(words) if place and words[place - 1] == "--config-name"), "")
        unread: str | None = None
        name = name or next((word[14:] for word in words if word.startswith("--config-name=")), "")
        for each in [*names, *([f"{name}.yaml"] if name else [])]:
            found = self.sources.find(each, near=folder)
            unread = unread or (each if each.endswith((".yaml", ".yml")) else None)
            if found is None:
                continue
            try:
                document: Any = parse_settings(self.sources.texts[found], found)
            except ValueError as error:
                self.store.note(found, None, f"could not be parsed: {error}")
                continue
            if isinstance(document, dict):
                return Settings(words, document)
        return Settings(words, unread=unread)

    def _done(self, launch: Launch | None, call: Call, file: str) -> None:
        if launch is None:
            return
        self.has_understood = True
        before = merged(*(self.store.lineage(each) or () for each in launch.start))
        if launch.is_copy:
            if launch.output and before:
                self.store.saved(launch.output, before)
            return
        if launch.method is None:
            self.store.note(file, call.line, launch.why)
            return
        tags = frozenset().union(*(self.store.file_tags(each) or frozenset() for each in self._data_files(launch)))
        method, why = launch.method, launch.why
        if method is Method.SFT and {"sampled", "filtered"} <= tags:
            method, why = Method.RFT, f"{why}, on the model's own completions that passed a check"
        step = self.store.step(Step(method, file, call.line, why, (*call.doubts, *launch.doubts), tags))
        if launch.output:
            self.store.saved(launch.output, merged(before, (step,)))

    def _data_files(self, launch: Launch) -> list[str]:
        """Texts of the configuration that look like files; LLaMA-Factory's names lead through dataset_info.json."""
        found = [each for each in launch.data if "." in each or "/" in each]
        names = {part.strip() for each in launch.data for part in each.split(",")}
        for path, text in self.sources.texts.items():
            if posixpath.basename(path) != "dataset_info.json":
                continue
            try:
                document = parse_settings(text, path)
            except ValueError:
                continue
            entries = document.items() if isinstance(document, dict) else ()
            found += [str(each.get("file_name")) for name, each in entries if name in names and isinstance(each, dict)]
        return found
