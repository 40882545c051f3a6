"""Which paths lead to a checkpoint, and that none leads out: entries 6, 7 and 35."""

import os
import threading
import time
from pathlib import Path, PurePosixPath

import pytest

from grading.intake import View
from grading.intake.codes import Refused
from grading.intake.paths import Resolver
from tests.unit.intake.conftest import WORKSPACE, Bench

SECRET = "held-out answer 42"


@pytest.mark.parametrize(
    "path", ["ckpt", "./ckpt/", "/workspace/ckpt", "ckpt/../ckpt", "//workspace//ckpt", "sub/../ckpt", "to-ckpt", "abs"]
)
def test_paths_that_lead_to_the_checkpoint(bench: Bench, path: str) -> None:
    bench.put()
    (bench.workspace / "sub").mkdir()
    (bench.workspace / "to-ckpt").symlink_to("sub/../ckpt")
    (bench.workspace / "abs").symlink_to("/workspace/ckpt")
    assert bench.codes(path) == []


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("ck\0pt", "nul"),
        ("ck\udcffpt", "encoding"),
        ("a" * 5000, "too_long"),
        ("a/" * 300, "too_long"),
        ("a" * 256, "too_long"),
        ("..", "outside"),
        ("/", "outside"),
        ("../outside", "outside"),
        ("ckpt/../../outside", "outside"),
        ("/etc", "outside"),
        ("/etc/no-such-file", "outside"),
        ("/opt/tools", "outside"),
        ("/opt/tools/no-such-file", "outside"),
        ("/workspace/../etc/passwd", "outside"),
        ("/proc/self/root/etc", "outside"),
        ("nowhere", "missing"),
        ("models", "not_a_checkpoint"),
        ("ckpt/config.json", "not_a_folder"),
        ("ckpt/config.json/x", "not_a_folder"),
        ("void", "empty_folder"),
    ],
)
def test_6_paths_that_are_refused_by_their_rule(bench: Bench, path: str, rule: str) -> None:
    bench.put()
    (bench.workspace / "void").mkdir()
    (bench.outside / "passwd").write_text(SECRET)
    report = bench.take(path)
    assert [each.code for each in report.findings] == ["E_PATH"]
    assert report.findings[0].detail["rule"] == rule
    assert len(report.findings[0].message) < 600
    assert report.findings[0].message.isprintable()


def test_6_a_missing_path_names_the_nearest_folder_and_its_checkpoints(bench: Bench) -> None:
    bench.put(name="out/step-20")
    bench.put(name="out/second")
    (bench.workspace / "out/logs").mkdir()
    message = bench.take("out/checkpoint-99/model").findings[0].message
    assert "/workspace/out/checkpoint-99 does not exist" in message
    assert "/workspace/out; it contains second, step-20." in message


def test_6_a_file_names_its_folder(bench: Bench) -> None:
    bench.put()
    assert "/workspace/ckpt" in bench.take("ckpt/model.safetensors").findings[0].message.partition("holds it")[2]


@pytest.mark.parametrize(
    ("target", "rule"),
    [
        ("/etc", "outside"),
        ("/opt/tools/secret", "outside"),
        ("../outside", "outside"),
        ("../../../../../../etc", "outside"),
        ("nowhere", "missing"),
        ("ckpt", "loop"),
        ("ckpt/ckpt/x", "loop"),
        (b"caf\xe9", "encoding"),
    ],
)
def test_6_a_link_as_the_submitted_path(bench: Bench, target: str | bytes, rule: str) -> None:
    os.symlink(target, os.fsencode(bench.workspace / "ckpt"))
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_SYMLINK"]
    assert report.findings[0].detail["rule"] == rule


def test_the_hosts_own_paths_mean_nothing_inside(bench: Bench) -> None:
    bench.put()
    (bench.workspace / "link").symlink_to(bench.workspace / "ckpt")
    assert bench.codes("link") == ["E_SYMLINK"]
    assert bench.codes(str(bench.workspace / "ckpt")) == ["E_PATH"]


def test_7_links_to_a_cache_outside(bench: Bench) -> None:
    folder = bench.put()
    for name in ("model.safetensors", "config.json"):
        blob = bench.outside / name
        (folder / name).rename(blob)
        (folder / name).symlink_to(blob)
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_SYMLINK"]
    assert report.findings[0].detail["found"] == ["config.json", "model.safetensors"]


def test_7_links_to_blobs_inside_are_followed_and_copied(bench: Bench) -> None:
    folder = bench.put(name="hub/snapshots/1")
    (bench.workspace / "hub/blobs").mkdir()
    for at, file in enumerate(sorted(folder.iterdir())):
        file.rename(bench.workspace / f"hub/blobs/{at}")
        file.symlink_to(f"../../blobs/{at}")
    report = bench.take("hub/snapshots/1")
    assert report.findings == ()
    assert report.snapshot is not None
    assert not any(each.is_symlink() for each in report.snapshot.iterdir())


def test_7_links_to_the_base_are_the_base(bench: Bench) -> None:
    folder = bench.put("base")
    for file in list(folder.iterdir()):
        file.unlink()
        file.symlink_to(f"/workspace/models/tiny/{file.name}")
    assert bench.take().equals_base


def test_7_a_dangling_link(bench: Bench) -> None:
    folder = bench.put()
    (folder / "model.safetensors").rename(bench.workspace / "w")
    (folder / "model.safetensors").symlink_to("../gone")
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_SYMLINK"]
    assert "model.safetensors: /workspace/gone does not exist" in report.findings[0].message


def test_a_link_of_an_ignored_file_may_dangle_but_not_leave(bench: Bench) -> None:
    folder = bench.put()
    (folder / "latest.log").symlink_to("gone.log")
    assert bench.codes() == []
    (folder / "notes.txt").symlink_to("/etc/passwd")
    assert bench.codes() == ["E_SYMLINK"]


def test_an_unreadable_config_through_a_link_shows_no_content(bench: Bench) -> None:
    folder = bench.put()
    (bench.workspace / "secret").write_text(SECRET)
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to("../secret")
    report = bench.take()
    assert [each.code for each in report.findings] == ["E_CONFIG_JSON"]
    assert SECRET not in str(report.as_dict())


def test_a_mount_hides_what_the_agent_put_beneath_it(bench: Bench) -> None:
    bench.put("trained", "models/tiny")
    assert bench.take("models/tiny").equals_base


def test_the_longest_mount_wins_on_the_way_back_too(bench: Bench) -> None:
    bench.put(name="ckpt")
    assert bench.codes("models/tiny/../../ckpt") == []


def test_a_link_swapped_for_another_never_leads_out(bench: Bench) -> None:
    """The name is a folder of the workspace at one moment and a link to the outside at the next."""
    inside, swap = bench.workspace / "inside", bench.workspace / "swap"
    inside.mkdir()
    (inside / "mine").write_text("mine")
    (bench.outside / "mine").write_text(SECRET)
    stop = threading.Event()

    def swapping() -> None:
        spare = bench.workspace / "spare"
        while not stop.is_set():
            for target in ("inside", str(bench.outside), "/opt/tools"):
                spare.unlink(missing_ok=True)
                spare.symlink_to(target)
                spare.replace(swap)

    swap.symlink_to("inside")
    thread = threading.Thread(target=swapping)
    thread.start()
    read: set[str] = set()
    refused = tries = 0
    began = time.monotonic()
    try:
        # For a while, and until each of the two has been met.
        while (tries < 1500 and time.monotonic() - began < 10) or not (read and refused):
            assert time.monotonic() - began < 120
            tries += 1
            try:
                with Resolver(bench.view, WORKSPACE).submitted("swap/mine") as trail:
                    read.add(Path(f"/proc/self/fd/{trail.place.fd}").read_text())
            except Refused:
                refused += 1
    finally:
        stop.set()
        thread.join()
    assert read == {"mine"}
    assert refused > 0


def test_descriptors_are_given_back(bench: Bench) -> None:
    bench.put()
    bench.take()
    before = len(os.listdir("/proc/self/fd"))
    for path in ("ckpt", "nowhere", "ckpt/config.json", "../x", "models/tiny"):
        bench.take(path)
    # Of an earlier test one may have been closed meanwhile.
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_view_that_does_not_hold_the_workspace_is_a_mistake_of_ours(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="covers"):
        Resolver(View(((PurePosixPath("/data"), tmp_path),)), WORKSPACE)
    with pytest.raises(ValueError, match="absolute"):
        View(((PurePosixPath("data"), tmp_path),))


def test_a_lost_workspace_is_the_hosts_fault(bench: Bench) -> None:
    bench.workspace.rmdir()
    report = bench.take()
    assert [each.code for each in report.findings] == ["I_IO"]
    assert report.faulted
    assert not report.refused
