"""A judge that is half named, or wrongly, fails at start with one line that says what to set."""

import os
import subprocess
import sys

import pytest

URL, MODEL = "http://127.0.0.1:9/v1", "judge-1"


def loaded(**env: str) -> tuple[int, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AGENT2_JUDGE")}
    given = {f"AGENT2_JUDGE_{name}": value for name, value in env.items()}
    code = "import config.settings as s; print(s.JUDGE_MODEL, s.JUDGE_PARAMETERS, s.JUDGE_PRICE_IN, s.JUDGE_PRICE_OUT)"
    done = subprocess.run([sys.executable, "-c", code], env=clean | given, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).strip().splitlines()[-1]


def test_no_judge_is_fine_and_a_whole_one_too() -> None:
    assert loaded() == (0, "{} None None")
    told = loaded(URL=URL, MODEL=MODEL, PARAMETERS='{"max_tokens": null}', PRICE_IN="0.5")
    assert told == (0, "judge-1 {'max_tokens': None} 0.5 None")


@pytest.mark.parametrize(
    ("env", "told"),
    [
        ({"URL": URL}, "Set both AGENT2_JUDGE_URL and AGENT2_JUDGE_MODEL"),
        ({"MODEL": MODEL}, "Set both AGENT2_JUDGE_URL and AGENT2_JUDGE_MODEL"),
        ({"URL": URL, "MODEL": "a;limit=3"}, "AGENT2_JUDGE_MODEL='a;limit=3' must be at most 64"),
        ({"URL": URL, "MODEL": MODEL, "PARAMETERS": "[1]"}, "AGENT2_JUDGE_PARAMETERS='[1]' must be a JSON object"),
        ({"URL": URL, "MODEL": MODEL, "PRICE_IN": "cheap"}, "AGENT2_JUDGE_PRICE_IN='cheap' must be a number"),
        ({"URL": URL, "MODEL": MODEL, "CONCURRENCY": "0"}, "AGENT2_JUDGE_CONCURRENCY=0 must lie between"),
    ],
)
def test_half_a_judge_fails_at_start(env: dict[str, str], told: str) -> None:
    code, line = loaded(**env)
    assert code != 0
    assert told in line
