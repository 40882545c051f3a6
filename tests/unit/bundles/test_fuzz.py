"""Whatever stands in an archive or a run directory: a refusal or a report, never an exception."""

import copy
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bundles.rules.check import bundle_check
from bundles.unpacking.limits import Limits
from bundles.unpacking.refusal import Refused
from bundles.unpacking.unpack import archive_unpack
from tests.unit.bundles.archives import Entry, Zip, member, plain_zip, tarred, zst
from tests.unit.bundles.making import NOW, bundle, manifest, transcript
from tests.unit.bundles.test_dialects import trial, workspace, write

LIMITS = Limits(entries=40, total=1 << 20, file=1 << 19, header=4096, seconds=20)
FILES = {"run_meta.json": b"{}", "code/train.py": b"print()\n" * 40, "agent.log": bytes(range(256)) * 8}
ARCHIVES: dict[str, bytes] = {
    "a.zip": plain_zip(FILES),
    "b.zip": Zip([Entry(name.encode(), data) for name, data in FILES.items()], comment=b"hello").build(),
    "c.tar": tarred(*(member(name, data=data) for name, data in FILES.items()), member("x/" * 60 + "y")),
}
ARCHIVES |= {"c.tar.gz": gzip.compress(ARCHIVES["c.tar"], mtime=0), "c.tar.zst": zst(ARCHIVES["c.tar"])}
ODD: list[Any] = [
    *(
        None,
        True,
        "",
        "x",
        "é\ud800",
        "a" * 5000,
        "../../x",
        "2026-13-45T99:99:99",
        "9" * 400,
        "NaN",
        -1,
        0,
        1.5,
        1e308,
    ),
    *(float("nan"), float("inf"), 10**30, [], {}, [[]], {"a": {}}, [None], "2026-03-10T12:00:00+99:99", -(2**70)),
]
ROUNDS = 120


@pytest.mark.parametrize("name", ARCHIVES)
def test_damaged_archives(name: str, tmp_path: Path) -> None:
    """Bytes flipped, dropped, doubled and swapped, most of them where headers stand."""
    chance = random.Random(name)
    outcomes = set()
    for number in range(ROUNDS):
        data = _damaged(bytearray(ARCHIVES[name]), chance)
        (tmp_path / "upload").write_bytes(data)
        into = tmp_path / "quarantine" / str(number)
        try:
            archive_unpack(tmp_path / "upload", into, filename=name, limits=LIMITS)
            outcomes.add("opened")
        except Refused as refusal:
            outcomes.add(refusal.code)
            assert not into.exists() or not any(into.iterdir())
    assert len(outcomes) > 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["quarantine", "upload"]


def _damaged(data: bytearray, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 4)):
        if not data:
            break
        ends = chance.choice((len(data), 600, -600))
        at = chance.randrange(len(data)) if abs(ends) >= len(data) else chance.randrange(abs(ends))
        at = len(data) - 1 - at if ends < 0 else at
        match chance.randrange(5):
            case 0:
                data[at] ^= 1 << chance.randrange(8)
            case 1:
                data[at] = chance.choice((0, 255, 0x2E, 0x2F, 0x5C))
            case 2:
                del data[at : at + chance.randint(1, 40)]
            case 3:
                data[at:at] = data[at : at + chance.randint(1, 60)]
            case _:
                data[at : at + 4] = chance.randbytes(4)
    return bytes(data)


def _odd(value: Any, chance: random.Random) -> Any:
    """The same with one to three places made odd."""
    value = copy.deepcopy(value)
    for _ in range(chance.randint(1, 3)):
        here, key = None, None
        node = value
        while isinstance(node, dict | list) and node and (here is None or chance.random() < 0.8):
            here = node
            key = chance.choice(list(node)) if isinstance(node, dict) else chance.randrange(len(node))
            node = node[key]
        if here is None:
            return chance.choice(ODD)
        if chance.random() < 0.15 and isinstance(here, dict):
            del here[key]
        else:
            here[key] = copy.deepcopy(chance.choice(ODD))  # type: ignore[index]
    return value


def storable(data: Any) -> None:
    """As PostgreSQL takes JSON: finite numbers, no NUL, no lone surrogate."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in text
    text.encode("utf-8")


def _text(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "surrogatepass")


def _workspace(chance: random.Random) -> dict[str, Any]:
    files = workspace(
        rows=[{"submission_id": n, "timestamp": "2026-03-10T13:00:00", "score": 50.0 + n} for n in (1, 2)]
    )
    files |= {
        "run_meta.json": _text(_odd(files["run_meta.json"], chance)),
        "scores.json": _text(_odd(files["scores.json"], chance)),
    }
    row = ["20260310T120000", "x", "gsm8k", "claude", "m", "b", "1", "2", "3", "4", "5", "True", "/x"]
    row[chance.randrange(len(row))] = str(chance.choice(ODD)).encode("utf-8", "replace").decode()
    head = "run_id,timestamp,task,agent,driver_model,base_model,baseline,best_score,improvement,"
    head += "submissions,duration_s,success,workspace"
    files["results.csv"] = f"{head}\n{','.join(row)}\n".encode()
    files["reports/metrics.json"] = _text(_odd({"monotonic_ratio": 0.5, "valid_submission_rate": 1.0}, chance))
    return files


def _posttrainbench(chance: random.Random) -> dict[str, Any]:
    files = {"solve_out.txt": transcript(1), "metrics.json": _text(_odd({"accuracy": 0.7, "stderr": 0.1}, chance))}
    files["time_taken.txt"] = str(chance.choice(ODD)).encode("utf-8", "replace")
    return files | {"status.json": _text(_odd({"status": "failed", "exit_code": 0}, chance))}


def _harbor(chance: random.Random) -> dict[str, Any]:
    result = _odd(trial("a"), chance)
    if isinstance(result, dict):
        result |= {"task_name": result.get("task_name"), "trial_name": result.get("trial_name")}
    return {"t/result.json": _text(result), "t/verifier/reward.txt": b"0.7", "t/agent/trajectory.json": _atif(chance)}


def _atif(chance: random.Random) -> bytes:
    step = {
        "step_id": 1,
        "source": "agent",
        "timestamp": "2026-03-10T12:00:00Z",
        "message": "x",
        "metrics": {"prompt_tokens": 1},
    }
    step["observation"] = {"results": [{"subagent_trajectory_ref": [{"trajectory_id": "b"}]}]}
    document = {
        "schema_version": "ATIF-v1.6",
        "session_id": "a",
        "agent": {"name": "n"},
        "steps": [step],
        "final_metrics": {},
    }
    return _text(_odd(document | {"subagent_trajectories": [{"trajectory_id": "b", "steps": []}]}, chance))


def _trajectory(chance: random.Random) -> dict[str, Any]:
    return {
        "trajectory.json": b'{"schema_version": "ATIF-v1.6", ' + _atif(chance)[1:],
        "scores.json": _text(_odd([{"score": 1}], chance)),
    }


@pytest.mark.parametrize("make", [_workspace, _posttrainbench, _harbor, _trajectory])
def test_odd_run_directories(make: Callable[[random.Random], dict[str, Any]], tmp_path: Path) -> None:
    chance = random.Random(make.__name__)
    for number in range(ROUNDS):
        folder = write(tmp_path / str(number), make(chance))
        report = bundle_check(folder, name="run.zip", now=NOW, details={"task": "gsm8k"})
        storable(report.as_data())


def test_odd_manifests(tmp_path: Path) -> None:
    chance = random.Random(7)
    bundle(tmp_path)
    told = json.loads((tmp_path / "manifest.json").read_text())
    for _ in range(3 * ROUNDS):
        odd = _odd(told, chance)
        text = _text(odd) if not isinstance(odd, dict) else _text({"format": "agent2-bundle"} | odd)
        (tmp_path / "manifest.json").write_bytes(text)
        report = bundle_check(tmp_path, name="run.zip", now=NOW)
        storable(report.as_data())
    assert manifest()["format"] == "agent2-bundle"
