"""What another user's sandbox could not read is named before anything starts."""

from pathlib import Path

from benchmark.sandbox.access import closed_to

STRANGER = (54321, 54321)


def test_a_file_for_its_owner_alone_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "config.json").write_text("{}")
    assert closed_to(tmp_path, *STRANGER) is None
    (tmp_path / "model.safetensors").write_bytes(b"x")
    (tmp_path / "model.safetensors").chmod(0o600)
    assert closed_to(tmp_path, *STRANGER) == tmp_path / "model.safetensors"
    owner = (tmp_path / "model.safetensors").stat()
    assert closed_to(tmp_path, owner.st_uid, owner.st_gid) is None


def test_a_folder_nobody_else_may_enter_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "base"
    folder.mkdir(mode=0o700)
    assert closed_to(folder, *STRANGER) == folder


def test_root_may_read_everything_and_links_to_nowhere_are_passed_over(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "gone").symlink_to("nowhere")
    assert closed_to(tmp_path, *STRANGER) is None
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0)
    assert closed_to(tmp_path, 0, 0) is None
