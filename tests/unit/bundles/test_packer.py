"""The packer: one file that runs alone, masks as the platform does, and makes bundles that the platform takes."""

import ast
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.masking import Masker
from benchmark.secret_shapes import LONGEST
from bundles.packer.cli import main
from bundles.packer.digests import checkpoint_digest, checkpoint_folder, is_digested
from bundles.packer.join import packer_source
from bundles.packer.masking import PlainMasker
from bundles.rules.catalogue import CATALOGUE
from grading.intake.listing import JSON_FILES, TOKENIZER_FILES, is_graded
from grading.intake.report import GradedFile
from grading.intake.snapshot import files_digest
from tests.unit.bundles.archives import Entry, zipped, zst
from tests.unit.bundles.making import bundle, transcript
from tests.unit.bundles.test_dialects import trial, workspace, write

KEY = "sk-ant-api03-" + "Ab3" * 20
SECRETS = [
    f"ANTHROPIC_API_KEY={KEY}",
    f'{{"env": {{"OPENAI_API_KEY": "{KEY}"}}}}',
    "Authorization: Bearer abcdefghijklmnop1234",
    "hf_" + "a1" * 20,
    "ghp_" + "Z9" * 18,
    "AKIAIOSFODNN7EXAMPLE",
    "https://user:hunter2pass@host/x",
    "HF_TOKEN = 'abcd1234efgh5678ijkl'",
    "nothing to see in task-sk-learn or risk-averse-models-2024-and-longer",
    "-----BEGIN RSA PRIVATE KEY-----MIIEpAIBAAKCAQEA7bq-----END RSA PRIVATE KEY-----",
    "my_password=Passw0rdPassw0rdPassw0rd",
    "/grading/" + "x7" * 20 + "/submit",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
]
GIVEN = [
    "--set",
    "contact.name=Ada",
    "--set",
    "licence=CC-BY-4.0",
    "--set",
    "base_model.name=Qwen/Qwen2.5-1.5B-Instruct",
]
GIVEN += ["--set", "task=gsm8k", "--set", "agent.name=claude-code", "--set", "seeds=[1, 2]"]
Alone = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def packer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packer") / "agent2_pack.py"
    path.write_text(packer_source(), encoding="utf-8")
    return path


@pytest.fixture
def alone(packer: Path, tmp_path: Path) -> Alone:
    """Runs the one file in an isolated Python that has no packages and no platform."""

    def run(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-I", "-S", "-B", str(packer), *arguments]
        every = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONUTF8": "1", **environment}
        return subprocess.run(command, cwd=tmp_path, env=every, capture_output=True, text=True, check=False, timeout=60)

    return run


def test_one_file_of_the_standard_library_alone(packer: Path) -> None:
    source = packer.read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 9))
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0]  # type: ignore[union-attr]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported <= set(sys.stdlib_module_names)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Match)]
    assert len(source) < 400_000


def test_it_says_how_to_use_it(alone: Alone) -> None:
    told = alone("--help")
    assert told.returncode == 0
    assert "PostTrainBench" in told.stdout
    assert alone().returncode == 2


@pytest.mark.parametrize("secret", SECRETS)
def test_masks_as_the_platform_does(secret: str) -> None:
    data = f"before {secret} behind\n{secret}".encode()
    theirs = Masker(["hunter2hunter2"]).mask(data)
    ours = b"".join(piece for piece, _ in PlainMasker(["hunter2hunter2"]).stream(_file(data)))
    assert ours == theirs


def test_masks_real_transcripts_as_the_platform_does(shared_data: Path) -> None:
    for path in sorted((shared_data / "traces").glob("*.jsonl")):
        data = path.read_bytes()
        assert b"".join(piece for piece, _ in PlainMasker().stream(_file(data))) == Masker().mask(data), path.name


def test_masking_over_the_edges_of_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bundles.packer.masking.MASKED_BLOCK", LONGEST + 100)
    data = b"x" * (LONGEST + 60) + b" " + KEY.encode() + b" " + b"y" * (3 * LONGEST) + b" api_key=" + b"k1" * 30
    pieces = list(PlainMasker().stream(_file(data)))
    assert b"".join(piece for piece, _ in pieces) == Masker().mask(data)
    assert sum(counts["secret"] for _, counts in pieces) == 2


def _file(data: bytes) -> io.BytesIO:
    return io.BytesIO(data)


def test_packs_checks_and_shows(alone: Alone, tmp_path: Path) -> None:
    files = workspace() | {"output/v1/model.safetensors": b"w" * 100, "code/a.py": f"k = '{KEY}'".encode()}
    write(tmp_path / "run", files)
    told = alone("pack", "run", "-o", "run.zip", *GIVEN, ORG_TOKEN="value-of-a-token-1")
    assert told.returncode == 0, told.stdout + told.stderr
    assert "code/a.py  1 × secret masked" in told.stdout
    assert "run.zip" in told.stdout
    assert "output/v1/model.safetensors: weights and data stay with their owner" in told.stdout
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        names = archive.namelist()
        manifest = json.loads(archive.read("manifest.json"))
        assert KEY.encode() not in archive.read("code/a.py")
    assert names == ["agent.jsonl", "code/a.py", "run_meta.json", "scores.json", "manifest.json"]
    assert manifest["redactions"] == [{"path": "code/a.py", "kind": "secret", "count": 1}]
    assert (manifest["layout"], manifest["seeds"], manifest["contact"]) == ("workspace", [1, 2], {"name": "Ada"})
    assert alone("check", "run.zip").returncode == 0


def test_values_of_secret_variables_are_masked(alone: Alone, tmp_path: Path) -> None:
    write(tmp_path / "run", workspace() | {"code/a.py": b"x = 'plain-words-only'"})
    alone("pack", "run", "-o", "run.zip", *GIVEN, MY_API_KEY="plain-words-only")
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        assert b"plain-words" not in archive.read("code/a.py")


def test_errors_in_the_manifest_are_masked_and_addresses_on_request(alone: Alone, tmp_path: Path) -> None:
    rows = [{"submission_id": 1, "score": 0.0, "error": f"401: key {KEY} of ada@example.com"}]
    code = b"# by ada.lovelace@uni.example.com, git@github.com:a/b, x@y, @decorator.call\n"
    write(tmp_path / "run", workspace(rows=rows) | {"code/a.py": code})
    alone("pack", "run", "-o", "run.zip", "--hide-emails", *GIVEN, "--set", "contact.email=ada@example.com")
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        told, text = json.loads(archive.read("manifest.json")), archive.read("code/a.py").decode()
        assert KEY.encode() not in archive.read("manifest.json") + archive.read("scores.json")
    assert text == "# by someone@example.org, git@github.com:a/b, x@y, @decorator.call\n"
    assert told["contact"]["email"] == "ada@example.com"
    assert {"path": "code/a.py", "kind": "e-mail", "count": 1} in told["redactions"]


def test_the_same_run_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "run", workspace())
    for name in ("a.zip", "b.zip"):
        assert main(["pack", "run", "-o", name, *GIVEN]) == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_what_cannot_be_packed_says_why(alone: Alone, tmp_path: Path) -> None:
    write(tmp_path / "job", {f"{name}/result.json": trial(name) for name in ("one", "two")})
    write(tmp_path / "nothing", {"a.txt": b""})
    bundle(tmp_path / "packed")
    write(tmp_path / "run", workspace())
    (tmp_path / "run.zip").write_bytes(b"mine")
    (tmp_path / "run.tar.zst").write_bytes(zst(b"x" * 1024))
    for arguments, text in (
        (["pack", "job"], "name one with --run:\n  one\n  two"),
        (["pack", "nothing"], "run_meta.json"),
        (["pack", "packed"], "is a bundle already"),
        (["pack", "run", "-o", "run.zip"], "--force"),
        (["pack", "run", "--set", "mode"], "NAME=VALUE"),
        (["pack", "run", "--set", "mode=cheat"], "expected one of free"),
        (["pack", "run", "--set", "colour=red"], "no such member"),
        (["pack", "gone"], "There is nothing at gone"),
        (["check", "run.zip"], "not an archive"),
        (["check", "run.tar.zst"], "Zstandard cannot be read here"),
        (["upload", "run.zip", "--url", "http://127.0.0.1:9"], "No token"),
    ):
        told = alone(*arguments)
        assert told.returncode == 2, arguments
        assert text in told.stderr, told.stderr
        assert "Traceback" not in told.stderr
    assert (tmp_path / "run.zip").read_bytes() == b"mine"


def test_what_was_left_aside_in_an_archive_is_said(alone: Alone, tmp_path: Path) -> None:
    files = {name: data if isinstance(data, bytes) else json.dumps(data).encode() for name, data in workspace().items()}
    entries = [Entry(f"run\\{name}".encode(), data) for name, data in files.items()]
    junk = [Entry(f"__MACOSX\\{name}".encode()) for name in "abcdefg"]
    (tmp_path / "run.zip").write_bytes(zipped(*entries, *junk))
    told = alone("check", "run.zip", *GIVEN)
    assert told.returncode == 0, told.stderr
    assert "and 2 more: written by the operating system" in told.stdout
    assert "backslashes for separators" in told.stdout
    assert {"junk_left_out", "archive_read_so"} <= CATALOGUE.keys()


def test_one_of_several_runs(alone: Alone, tmp_path: Path) -> None:
    write(tmp_path / "job", {f"{name}/result.json": trial(name) for name in ("one", "two")})
    told = alone("pack", "job", "--run", "two", *GIVEN)
    assert told.returncode == 0, told.stdout + told.stderr
    assert (tmp_path / "two.zip").is_file()


def test_a_single_atif_file(alone: Alone, tmp_path: Path, shared_data: Path) -> None:
    document = (shared_data / "traces" / "atif_multi_tool.json").read_bytes()
    write(tmp_path, {"t.json": document, "scores.json": [{"score": 40.0}], "other.json": b"{}"})
    assert "best 40.00" in alone("check", "t.json", *GIVEN).stdout
    told = alone("pack", "t.json", "-o", "t.zip", *GIVEN)
    assert "What is sent" in told.stdout, told.stderr
    with zipfile.ZipFile(tmp_path / "t.zip") as archive:
        assert archive.namelist() == ["scores.json", "t.json", "manifest.json"]


def test_errors_end_with_1(alone: Alone, tmp_path: Path) -> None:
    write(tmp_path / "run", workspace() | {"agent.jsonl": transcript(0)})
    told = alone("send", "run", "--url", "http://127.0.0.1:9", "--yes", *GIVEN)
    assert told.returncode == 1
    assert "It is not sent" in told.stderr


def test_digests_are_those_of_the_platform(tmp_path: Path) -> None:
    contents = {
        "config.json": b"{}",
        "model.safetensors": b"weights",
        "README.md": b"x",
        "adapter_model.safetensors": b"y",
    }
    write(tmp_path / "output" / "v1", contents)
    write(tmp_path / "output" / "v2", {"config.json": b"{}"})
    graded = [
        GradedFile(name, len(data), hashlib.sha256(data).hexdigest())
        for name, data in contents.items()
        if is_graded(name)
    ]
    assert checkpoint_digest(tmp_path / "output" / "v1") == files_digest(graded)
    assert checkpoint_digest(tmp_path / "output" / "v2") == ""
    for name in (*JSON_FILES, *TOKENIZER_FILES, "a.safetensors", "adapter_config.json", "training_args.bin"):
        assert is_digested(name) == is_graded(name), name
    place = checkpoint_folder("/elsewhere/run/output/v1", [tmp_path, tmp_path / "output"])
    assert place == tmp_path / "output" / "v1"


def test_digests_go_into_the_manifest(alone: Alone, tmp_path: Path) -> None:
    rows = [{"submission_id": 1, "score": 50.0, "model_path": "/w/output/v1"}]
    write(tmp_path / "run", workspace(rows=rows) | {"output/v1/model.safetensors": b"weights"})
    alone("pack", "run", "-o", "run.zip", "--digests", "run/output", *GIVEN)
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        told = json.loads(archive.read("manifest.json"))
    assert told["submissions"][0]["digest"] == checkpoint_digest(tmp_path / "run" / "output" / "v1")
