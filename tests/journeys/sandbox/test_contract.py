"""What every kind of sandbox promises."""

import time
from pathlib import Path, PurePosixPath

import psutil
import pytest

from benchmark.sandbox.contract import Exit, Limits, Mount, SandboxFault, Usage
from tests.support.waiting import until

from .conftest import ALL, DOCKER, Bench, mark_of_sleep

MIB = 1 << 20


def same_path(folder: Path, *, read_only: bool = True) -> Mount:
    """A mount that also the kind which mounts nothing accepts."""
    return Mount(folder, PurePosixPath(folder), read_only=read_only)


def holders(text: str) -> list[int]:
    """Host processes with `text` in their command line: those of any sandbox are among the host's."""
    return [p.pid for p in psutil.process_iter(["cmdline"]) if text in " ".join(p.info["cmdline"] or [])]


@pytest.mark.parametrize("sandbox", ALL, indirect=True)
class TestEverySandbox:
    def test_passes_output_and_exit_code_on(self, bench: Bench) -> None:
        ended, output = bench.run("echo out; echo err >&2; exit 7")
        assert ended == Exit(7)
        assert sorted(output.split()) == ["err", "out"]

    def test_keeps_the_output_of_a_command_that_ends_at_once(self, bench: Bench) -> None:
        for number in range(5):
            bench.run(f"echo -n {number}")
        assert bench.output() == "01234"

    def test_reports_a_signal_as_a_shell_does(self, bench: Bench) -> None:
        assert bench.run("kill -9 $$")[0].code == 137

    def test_lets_nothing_of_the_hosts_environment_in(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("A_SECRET", "of the host")
        _, output = bench.run("env; cat /proc/1/environ 2>/dev/null || true", env={"GIVEN": "value with = and spaces"})
        assert "of the host" not in output or bench.sandbox.kind == "process"
        lines = output.splitlines()
        assert "GIVEN=value with = and spaces" in lines
        assert "A_SECRET=of the host" not in lines

    def test_gives_a_private_home_and_tmp(self, bench: Bench) -> None:
        ended, output = bench.run('set -e; echo 1 > ~/f; echo 2 > "$TMPDIR/g"; cat ~/f "$TMPDIR/g"; ls -A ~ "$TMPDIR"')
        assert ended.code == 0, output
        assert output.split()[:2] == ["1", "2"]
        assert bench.run('ls -A ~ "$TMPDIR" | grep -c "^[fg]$"')[0].code == 1, "left from the sandbox before"

    def test_writes_to_a_writable_mount(self, bench: Bench, tmp_path: Path) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        ended, output = bench.run(
            "echo done > result", mounts=[same_path(folder, read_only=False)], workdir=PurePosixPath(folder)
        )
        assert ended.code == 0, output
        assert (folder / "result").read_text() == "done\n"

    def test_wait_says_none_while_it_runs(self, bench: Bench) -> None:
        running = bench.start("sleep 600")
        began = time.monotonic()
        assert running.wait(0.3) is None
        assert time.monotonic() - began < 120

    def test_stop_gives_time_to_finish(self, bench: Bench) -> None:
        running = bench.start('trap "echo finished; exit 5" TERM; echo ready; sleep 600 & wait')
        until(lambda: "ready" in bench.output())
        assert running.stop(60).code in {5, 143}
        assert "finished" in bench.output()

    def test_stop_ends_whatever_was_started(self, bench: Bench) -> None:
        mark = mark_of_sleep()
        script = f"""
            trap '' TERM HUP INT
            for n in 1 2 3; do (setsid bash -c "trap '' TERM; sleep {mark} & sleep {mark}" &) ; done
            nohup sleep {mark} >/dev/null 2>&1 &
            echo ready; while :; do sleep 1; done
        """
        running = bench.start(script)
        until(lambda: "ready" in bench.output() and len(holders(f"sleep {mark}")) >= 7)
        began = time.monotonic()
        running.stop(0.5)
        assert time.monotonic() - began < 60
        until(lambda: holders(mark) == [])

    def test_stop_is_idempotent_and_agrees_with_wait(self, bench: Bench) -> None:
        running = bench.start("exit 3")
        ended = running.wait(240)
        assert ended == Exit(3)
        assert running.stop() == running.stop() == running.wait(0) == ended

    def test_daemons_do_not_outlive_the_command(self, bench: Bench) -> None:
        mark = mark_of_sleep()
        bench.run(f"(setsid sleep {mark} >/dev/null 2>&1 &); setsid nohup sleep {mark} & sleep 0.2")
        until(lambda: holders(mark) == [])

    def test_several_hundred_megabytes_of_output_do_not_hang(self, bench: Bench) -> None:
        running = bench.start("head -c 300000000 /dev/zero; echo end")
        ended = running.wait(240)
        assert ended == Exit(0)
        assert bench.log_path.stat().st_size == 300_000_004
        bench.log_path.unlink()

    def test_memory_limit(self, bench: Bench) -> None:
        script = "python3 -c 'import time; held = bytearray(400 << 20); time.sleep(200)'"
        ended, _ = bench.run(script, limits=Limits(memory_bytes=150 * MIB))
        assert ended.exceeded == "memory"
        assert ended.code != 0

    def test_process_limit_holds(self, bench: Bench) -> None:
        script = "for n in $(seq 60); do sleep 3 & done 2>/dev/null; echo have $(jobs -p | wc -l); wait"
        _, output = bench.run(script, limits=Limits(processes=25))
        assert "have 60" not in output

    def test_cpu_limit(self, bench: Bench) -> None:
        if "control groups" not in bench.sandbox.means()["cpus"]:
            pytest.skip("no control group for CPUs here")
        script = (
            "import time; began = time.monotonic(); "
            "exec('while time.monotonic() - began < 3: pass'); print(time.process_time() / (time.monotonic() - began))"
        )
        _, output = bench.run(f'python3 -c "{script}"', limits=Limits(cpus=0.2))
        assert float(output) < 0.3

    def test_disk_limit(self, bench: Bench, tmp_path: Path) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        (folder / "already").write_bytes(b"x" * 3 * MIB)
        script = f"cd {folder}; for n in $(seq 40); do head -c 1000000 /dev/urandom > $n; done; sleep 200"
        mounts = [same_path(folder, read_only=False)]
        ended, _ = bench.run(script, mounts=mounts, limits=Limits(disk_bytes=20 * MIB))
        assert ended == Exit(137, "disk")

    def test_one_file_cannot_be_larger_than_the_disk_limit(self, bench: Bench, tmp_path: Path) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        ended, _ = bench.run(
            f"exec head -c 500000000 /dev/zero > {folder}/big",
            mounts=[same_path(folder, read_only=False)],
            limits=Limits(disk_bytes=20 * MIB),
        )
        assert ended.exceeded == "disk"
        assert (folder / "big").stat().st_size <= 24 * MIB

    def test_a_missing_mount_is_our_fault(self, bench: Bench, tmp_path: Path) -> None:
        with pytest.raises(SandboxFault, match="does not exist"):
            bench.start("true", mounts=[same_path(tmp_path / "nowhere")])

    def test_reap_ends_what_a_lost_worker_left(self, bench: Bench) -> None:
        mark = mark_of_sleep()
        bench.start(f"(setsid sleep {mark} &); sleep {mark}", name="test-left-behind")
        until(lambda: len(holders(f"sleep {mark}")) >= 2)
        bench.sandbox.reap("test-left-behind")
        until(lambda: holders(mark) == [])
        bench.sandbox.reap("test-left-behind")
        bench.sandbox.reap("test-never-existed")

    def test_says_how_limits_are_enforced(self, bench: Bench) -> None:
        assert set(bench.sandbox.means()) == {"memory", "processes", "cpus", "disk"}


@pytest.mark.parametrize("sandbox", [DOCKER], indirect=True)
def test_the_engine_counts_what_a_container_uses(bench: Bench) -> None:
    """Where the worker sees no process of it: in a container beside it."""
    running = bench.start(
        "python3 -c \"held = b'x' * (64 << 20); print('held', flush=True)\nwhile True: pass\" & sleep 600"
    )
    until(lambda: "held" in bench.output())
    until(lambda: (told := running.usage()) is not None and (told.cpu_s or 0) > 0.5)
    told = running.usage()
    assert told is not None
    assert (told.memory_bytes or 0) > 64 << 20
    assert (told.processes or 0) >= 3
    running.stop(0)
    assert running.usage() == Usage()
