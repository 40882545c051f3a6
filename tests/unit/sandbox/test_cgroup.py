"""Finding control groups in the kernel's texts, and what is written into them. Files stand in for the kernel's."""

from pathlib import Path

import pytest

from benchmark.sandbox.cgroup import Cgroup, settings_for
from benchmark.sandbox.cgroup_find import Controller, candidates, mounted
from benchmark.sandbox.contract import Exit, Limits, SandboxFault
from benchmark.sandbox.limits import LimitWatch, means

V2_MOUNTS = "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid,nodev 0 0\n"
HYBRID_MOUNTS = """\
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/freezer cgroup rw,relatime,freezer 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
"""
HYBRID_OWN = "4:memory:/service/a\n3:cpu,cpuacct:/\n2:freezer:/\n0::/service\n"
EVERYTHING = Limits(cpus=1.5, memory_bytes=1000, processes=9)


class TestMounted:
    def test_version_2(self) -> None:
        (only,) = mounted(V2_MOUNTS, "0::/user.slice/app.service/worker\n")
        assert (only.root, only.version, only.own) == (Path("/sys/fs/cgroup"), 2, "/user.slice/app.service/worker")
        assert next(candidates(only)) == Path("/sys/fs/cgroup/user.slice/app.service")
        assert list(candidates(only))[-1] == Path("/sys/fs/cgroup")

    def test_version_1_beside_version_2(self) -> None:
        memory, cpu, freezer, unified = mounted(HYBRID_MOUNTS, HYBRID_OWN)
        assert (memory.kinds, memory.own) == (frozenset({"memory"}), "/service/a")
        assert (cpu.kinds, cpu.own) == (frozenset({"cpu"}), "/")
        assert freezer.kinds == frozenset()
        assert (unified.version, unified.own) == (2, "/service")

    def test_nothing(self) -> None:
        assert list(mounted("proc /proc proc rw 0 0\n", "")) == []


class TestSettings:
    def test_version_2(self) -> None:
        written = [pair for kind in ("memory", "pids", "cpu") for pair in settings_for(at(kind, 2), EVERYTHING)]
        assert written == [
            ("memory.max", "1000"),
            ("memory.swap.max", "0"),
            ("pids.max", "9"),
            ("cpu.max", "150000 100000"),
        ]

    def test_version_1(self) -> None:
        written = [pair for kind in ("memory", "pids", "cpu") for pair in settings_for(at(kind, 1), EVERYTHING)]
        assert written == [
            ("memory.limit_in_bytes", "1000"),
            ("memory.memsw.limit_in_bytes", "1000"),
            ("pids.max", "9"),
            ("cpu.cfs_period_us", "100000"),
            ("cpu.cfs_quota_us", "150000"),
        ]

    def test_no_limit_writes_nothing(self) -> None:
        assert list(settings_for(at("memory", 2), Limits())) == []


def at(kind: str, version: int, parent: Path = Path("/cg")) -> Controller:
    return Controller(kind, version, parent)


class TestCounters:
    @pytest.mark.parametrize(("version", "file"), [(2, "memory.events"), (1, "memory.oom_control")])
    def test_reads_what_the_kernel_counted(self, tmp_path: Path, version: int, file: str) -> None:
        group = Cgroup("run-1", {kind: at(kind, version, tmp_path) for kind in ("memory", "pids")})
        (tmp_path / "run-1").mkdir()
        (tmp_path / "run-1" / file).write_text("oom 4\noom_kill 2\noom_group_kill 0\n")
        (tmp_path / "run-1" / "pids.events").write_text("max 3\n")
        assert (group.out_of_memory_kills(), group.forks_refused()) == (2, 3)
        watch = LimitWatch(Limits(memory_bytes=1), group=group, folders=[])
        assert watch.ended_as(1) == Exit(1, "memory")
        assert watch.ended_as(0) == Exit(0)

    def test_a_group_in_use_is_not_taken_over(self, tmp_path: Path) -> None:
        group = Cgroup("run-1", {"pids": at("pids", 2, tmp_path)})
        (tmp_path / "run-1").mkdir()
        (tmp_path / "run-1" / "cgroup.procs").write_text("41\n42\n")
        with pytest.raises(SandboxFault, match="reap it"):
            group.create(Limits())
        assert group.pids() == {41, 42}

    def test_without_a_controller_nothing_is_counted(self) -> None:
        assert Cgroup("x", {}).out_of_memory_kills() == 0


def test_means_tells_apart_what_is_enforced_how() -> None:
    told = means({"memory": at("memory", 2)})
    assert told["memory"] == "control groups, version 2"
    assert "counted" in told["processes"]
