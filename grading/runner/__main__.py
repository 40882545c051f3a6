"""`python -m grading.runner spec.json out/`: grade one checkpoint.

Exit codes: 0 a verdict was written (a score or a typed failure), 2 the spec is wrong, anything else a fault of ours.
"""

import os
import sys
from pathlib import Path

# Before any import that may read them: no network loads, no interactive questions, no tokenizer threads.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
# Half-written progress bars would share a line with an event where both streams go to one log.
os.environ.setdefault("TQDM_DISABLE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
# Threads that wait must sleep: where other jobs share the cores, spinning makes every small operation ten times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from grading.runner.events import Events
from grading.runner.spec import SpecError, read_spec

USAGE = "usage: python -m grading.runner SPEC.JSON OUT_FOLDER"


def main(argv: list[str]) -> int:
    """Grade what `argv` = [spec, out] names; returns the exit code."""
    if len(argv) != 2:
        sys.stderr.write(USAGE + "\n")
        return 2
    try:
        spec = read_spec(Path(argv[0]))
    except SpecError as error:
        sys.stderr.write(f"{argv[0]}: {error}\n")
        return 2
    out = Path(argv[1])
    out.mkdir(parents=True, exist_ok=True)
    # An earlier attempt's verdict must not stand for this one's, should it die.
    (out / "verdict.json").unlink(missing_ok=True)
    from grading.runner.evaluation import evaluate
    from grading.runner.verdicts import write_verdict

    events = Events.taking_stdout()
    verdict = evaluate(spec, out, events)
    write_verdict(out, verdict)
    events.verdict(verdict)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
