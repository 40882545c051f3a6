"""Every case of the corpus has the label that its author gave it."""

from pathlib import Path

import pytest

from tests.unit.methods.cases import CORPUS, Case, cases
from traces.methods import Confidence, label_submission

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_label(case: Case) -> None:
    report = case.label()
    assert report.methods == case.methods, (report.findings, report.notes)


@pytest.mark.parametrize("case", [case for case in CASES if case.methods], ids=lambda case: case.name)
def test_each_method_has_evidence_in_a_file_of_the_case_or_a_command(case: Case) -> None:
    report = case.label()
    assert {finding.method for finding in report.findings} == set(case.methods)
    for finding in report.findings:
        evidence = finding.evidence
        assert evidence.why
        assert evidence.file.partition(" (inline")[0] in {*case.files, "(command)"}
        if evidence.file in case.files and not evidence.file.endswith(".ipynb"):
            assert evidence.line is not None
            assert 1 <= evidence.line <= case.files[evidence.file].decode().count("\n")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_folder_is_labelled_as_the_mapping_is(case: Case, tmp_path: Path) -> None:
    for name, content in case.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    found = label_submission(
        tmp_path, commands=case.commands, model_path=case.model_path, base_model_path="models/base"
    )
    assert (found.methods, found.findings) == (case.label().methods, case.label().findings)


def test_without_commands_nothing_is_certain() -> None:
    for case in CASES:
        report = label_submission(case.files, base_model_path="models/base")
        assert Confidence.CERTAIN not in {finding.confidence for finding in report.findings}, case.name


def test_the_corpus_is_whole() -> None:
    assert {path.stem for path in CORPUS.glob("*.txt")} == {case.name for case in CASES}
    sizes = {name: sum(case.set == name for case in CASES) for name in {case.set for case in CASES}}
    assert sizes["development"] >= 60
    assert sizes["held-out 1"] + sizes["held-out 2"] >= 20
