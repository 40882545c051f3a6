"""What a verdict says it rests on."""

from importlib.metadata import version
from pathlib import Path

from grading.runner.versions import library_versions


def test_packages_of_the_task_are_named(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("# PyYAML, for tests\npytest==1.0\nno-such-package-here>=2\n")
    found = library_versions(tmp_path)
    assert found["pytest"] == version("pytest")
    assert "no-such-package-here" not in found
    assert "PyYAML" not in found


def test_a_task_without_packages(tmp_path: Path) -> None:
    assert library_versions(tmp_path)["torch"] == version("torch")
