"""What is asked of bubblewrap and Docker, without running either."""

import os
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from benchmark.sandbox import inside
from benchmark.sandbox.access import hand_over
from benchmark.sandbox.bubblewrap import hostname
from benchmark.sandbox.bubblewrap_args import View, environment_args, gpu_args, mount_args, private_args, sandbox_args
from benchmark.sandbox.contract import Limits, Mount, SandboxFault, Spec
from benchmark.sandbox.docker import DockerSandbox


def pairs(args: list[str], option: str) -> list[tuple[str, str]]:
    return [(args[n + 1], args[n + 2]) for n, arg in enumerate(args) if arg == option]


def at(path: Path, target: str, *, read_only: bool = True) -> Mount:
    return Mount(path, PurePosixPath(target), read_only=read_only)


class TestBubblewrap:
    def test_shows_only_chosen_parts_of_the_host(self, tmp_path: Path) -> None:
        view = View("/usr/bin/python3", [], 1 << 20, nested_users=False)
        args = sandbox_args(view, Spec(name="a", command=["true"], mounts=[at(tmp_path, "/data")]))
        sources = {source for source, _ in pairs(args, "--ro-bind")}
        assert {"/", "/etc", "/home", "/root", "/proc", "/sys", "/dev", "/var", "/run", "/tmp"}.isdisjoint(sources)
        assert pairs(args, "--bind") == []
        assert (str(tmp_path), "/data") in pairs(args, "--ro-bind")

    def test_the_root_is_made_read_only_after_everything_is_in_place(self) -> None:
        args = sandbox_args(View("/usr/bin/python3", [], 1, nested_users=True), Spec(name="a", command=["true"]))
        remount = len(args) - args[::-1].index("--remount-ro")
        assert args[remount] == "/"
        assert "--tmpfs" not in args[remount:]
        assert "--disable-userns" not in args

    def test_outer_mounts_come_first(self, tmp_path: Path) -> None:
        args = list(
            mount_args([at(tmp_path, "/w/data/deep"), at(tmp_path, "/w", read_only=False), at(tmp_path, "/w/data")])
        )
        assert [args[n] for n in (2, 5, 8)] == ["/w", "/w/data", "/w/data/deep"]
        assert args[0] == "--bind"

    @pytest.mark.parametrize("target", ["/", "relative"])
    def test_a_mount_needs_a_place(self, tmp_path: Path, target: str) -> None:
        with pytest.raises(SandboxFault, match="absolute path"):
            list(mount_args([at(tmp_path, target)]))

    def test_private_folders_are_bounded_by_the_disk_limit_and_give_way_to_mounts(self, tmp_path: Path) -> None:
        spec = Spec(name="a", command=["true"], mounts=[at(tmp_path, str(inside.HOME))], limits=Limits(disk_bytes=4096))
        args = list(private_args(spec, 1 << 30))
        assert [args[n + 1] for n, arg in enumerate(args) if arg == "--tmpfs"] == ["/tmp", "/dev/shm"]
        assert {args[n + 1] for n, arg in enumerate(args) if arg == "--size"} == {"4096"}

    def test_gpus_by_number_or_all(self, tmp_path: Path) -> None:
        for name in ("nvidia0", "nvidia1", "nvidia10", "nvidiactl", "nvidia-uvm"):
            (tmp_path / name).touch()

        def shown(*gpus: str) -> list[str]:
            return [target for _, target in pairs(list(gpu_args(gpus, tmp_path)), "--dev-bind")]

        assert shown("1") == ["/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm"]
        assert shown("all")[:3] == ["/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia10"]
        assert shown() == []
        for missing in ("2", "GPU-1234", "../sda"):
            with pytest.raises(SandboxFault, match="no GPU"):
                shown(missing)

    @pytest.mark.parametrize("name", ["", "A=B", "A\0B"])
    def test_refuses_what_is_no_variable(self, name: str) -> None:
        with pytest.raises(SandboxFault, match="not an environment variable"):
            list(environment_args("/usr/bin/python3", {name: "x"}))

    @pytest.mark.parametrize("name", ["", "../x", "a/b", "-x", "x" * 64])
    def test_refuses_odd_names(self, name: str) -> None:
        with pytest.raises(SandboxFault, match="not a sandbox's name"):
            hostname(name)


class TestDocker:
    def options(self, **given: Any) -> dict[str, Any]:
        return DockerSandbox(image="i", python="/p/python", user=(5, 6)).options(
            Spec(name="run-1", command=["true"], **given)
        )

    def test_is_locked_down(self) -> None:
        options = self.options()
        assert options["network_mode"] == "none"
        assert options["read_only"] is True
        assert options["cap_drop"] == ["ALL"]
        assert options["security_opt"] == ["no-new-privileges:true"]
        assert options["user"] == "5:6"
        assert options["name"] == "run-1"
        assert options["labels"] == {"agent2.sandbox": "run-1", "agent2.baseline-bytes": "0"}

    def test_limits(self) -> None:
        options = self.options(limits=Limits(cpus=1.5, memory_bytes=100, processes=7, disk_bytes=50))
        assert (options["mem_limit"], options["memswap_limit"]) == (100, 100)
        assert (options["nano_cpus"], options["pids_limit"]) == (1_500_000_000, 7)
        assert options["ulimits"] == [{"Name": "fsize", "Soft": 50, "Hard": 50}]
        assert "size=50" in str(options["tmpfs"])
        assert "mem_limit" not in self.options()

    def test_gpus(self) -> None:
        assert self.options()["device_requests"] == []
        (some,) = self.options(gpus=["0", "GPU-1"])["device_requests"]
        (every,) = self.options(gpus=["all"])["device_requests"]
        assert (some["DeviceIDs"], some["Count"]) == (["0", "GPU-1"], 0)
        assert (every["DeviceIDs"], every["Count"]) == ([], -1)

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
    def test_hands_writable_mounts_over_without_following_links(self, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.touch()
        (tmp_path / "work" / "deep").mkdir(parents=True)
        (tmp_path / "work" / "deep" / "file").touch()
        (tmp_path / "work" / "link").symlink_to(outside)
        hand_over(tmp_path / "work", 1000, 1000)
        assert {path.lstat().st_uid for path in [tmp_path / "work", *(tmp_path / "work").rglob("*")]} == {1000}
        assert outside.stat().st_uid == 0


class TestForwardedCommand:
    def test_only_with_a_socket_it_listens(self) -> None:
        spec = Spec(name="a", command=["run", "--port"])
        assert inside.forwarded_command(spec, python="py")[-3:] == ["--", "run", "--port"]
        assert "--socket" not in inside.forwarded_command(spec, python="py")
        served = inside.forwarded_command(Spec(name="a", command=["run"], socket=Path("/s")), python="py")
        assert served[3:7] == ["--socket", str(inside.SOCKET_FOLDER / "s"), "--port", "8900"]

    def test_the_interpreters_folder_leads_the_path(self) -> None:
        assert inside.base_environment("/opt/venv/bin/python")["PATH"].startswith("/opt/venv/bin:/usr")
        assert not inside.base_environment("python3")["PATH"].startswith(".")
