"""What untrusted code inside must not be able to see, reach or change."""

import os
import socket
import threading
from contextlib import suppress
from pathlib import Path, PurePosixPath
from uuid import uuid4

import pytest

from benchmark.sandbox.contract import Limits, Mount

from .conftest import BUBBLEWRAP, ISOLATING, Bench


@pytest.mark.parametrize("sandbox", ISOLATING, indirect=True)
class TestTheHost:
    def test_files_are_out_of_sight(self, bench: Bench, tmp_path: Path) -> None:
        secret = tmp_path / "secret"
        secret.write_text("of the host")
        _, output = bench.run(
            f"cat {secret}; ls /home; ls {Path.home()}; cat /etc/shadow; find /tmp /home -name secret"
        )
        assert "of the host" not in output
        assert str(secret) not in [line.strip() for line in output.splitlines() if "No such" not in line]

    def test_processes_are_out_of_sight(self, bench: Bench) -> None:
        _, output = bench.run("ls /proc | grep -E '^[0-9]+$'; kill -0 " + str(os.getpid()))
        pids = [int(line) for line in output.splitlines() if line.isdigit()]
        assert len(pids) < 10
        assert max(pids) < 100
        assert "No such process" in output

    def test_kernel_settings_cannot_be_changed(self, bench: Bench) -> None:
        before = Path("/proc/sys/kernel/core_pattern").read_text()
        ended, output = bench.run("echo '|/tmp/x' > /proc/sys/kernel/core_pattern || exit 9")
        assert (ended.code, Path("/proc/sys/kernel/core_pattern").read_text()) == (9, before), output
        assert bench.run("echo c > /proc/sysrq-trigger && exit 1; test ! -s /proc/keys")[0].code == 0

    def test_nothing_outside_home_and_tmp_is_writable(self, bench: Bench) -> None:
        folders = "/ /usr /etc /dev /run /var /proc /sys /opt"
        script = f"for d in {folders}; do touch $d/new 2>/dev/null && echo wrote $d; done; echo end"
        assert bench.run(script)[1] == "end\n"

    def test_home_and_tmp_are_bounded(self, bench: Bench) -> None:
        bench.sandbox.tmp_bytes = 4 << 20  # type: ignore[union-attr]
        ended, output = bench.run(
            "head -c 9000000 /dev/zero > ~/a; echo $?; head -c 9000000 /dev/zero > /tmp/a; exit $?"
        )
        assert ended.code != 0
        assert "No space left" in output


@pytest.mark.parametrize("sandbox", ISOLATING, indirect=True)
class TestTheNetwork:
    def test_has_only_a_loopback(self, bench: Bench) -> None:
        _, output = bench.run("tail -n +3 /proc/net/dev | cut -d: -f1")
        assert output.split() == ["lo"]

    def test_does_not_reach_the_hosts_ports(self, bench: Bench) -> None:
        listener = socket.create_server(("0.0.0.0", 0))
        reached = threading.Event()
        port = listener.getsockname()[1]

        def accept() -> None:
            listener.accept()
            reached.set()

        threading.Thread(target=accept, daemon=True).start()
        probe = (
            "import socket, sys; probe = socket.socket(); probe.settimeout(2); "
            "sys.exit(probe.connect_ex((sys.argv[1], int(sys.argv[2]))) == 0)"
        )
        for address in ("127.0.0.1", socket.gethostbyname(socket.gethostname()), "1.1.1.1"):
            assert bench.run(f"python3 -c '{probe}' {address} {port}")[0].code == 0, address
        assert not reached.is_set()

    def test_does_not_reach_abstract_sockets(self, bench: Bench) -> None:
        listener = socket.socket(socket.AF_UNIX)
        name = f"agent2-test-{uuid4().hex}"
        listener.bind(f"\0{name}")
        listener.listen()
        probe = f'import socket; socket.socket(socket.AF_UNIX).connect("\\0{name}")'
        ended, output = bench.run(f"python3 -c '{probe}'")
        listener.close()
        assert ended.code == 1
        assert "ConnectionRefusedError" in output


@pytest.mark.parametrize("sandbox", ISOLATING, indirect=True)
class TestPrivileges:
    def test_there_are_none(self, bench: Bench) -> None:
        _, output = bench.run("id -u; grep -E '^(Cap|NoNewPrivs)' /proc/self/status")
        uid, *fields = output.splitlines()
        assert uid != "0"
        assert dict(line.split(":\t") for line in fields) == {
            **dict.fromkeys(["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"], "0" * 16),
            "NoNewPrivs": "1",
        }

    @pytest.mark.parametrize("what", ["--user", "--user --map-root-user --mount", "--net", "--pid --fork"])
    def test_no_new_namespaces(self, bench: Bench, what: str) -> None:
        assert bench.run(f"unshare {what} true")[0].code != 0

    def test_no_descriptor_of_ours_is_open(self, bench: Bench) -> None:
        _, output = bench.run("ls /proc/self/fd")
        assert output.split() == ["0", "1", "2", "3"]


@pytest.mark.parametrize("sandbox", ISOLATING, indirect=True)
class TestMounts:
    def test_read_only_is_read_only(self, bench: Bench, tmp_path: Path) -> None:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "file").write_text("visible")
        script = "cat /data/file; rm -f /data/file; touch /data/new; mount -o remount,rw /data; touch /data/new; true"
        # The two streams of a container come in no certain order.
        _, output = bench.run(f"exec 2>&1; {script}", mounts=[Mount(tmp_path / "data", PurePosixPath("/data"))])
        assert output.startswith("visible")
        assert os.listdir(tmp_path / "data") == ["file"]

    def test_an_inner_read_only_mount_lies_over_an_outer_writable_one(self, bench: Bench, tmp_path: Path) -> None:
        for name in ("work/data", "visible"):
            (tmp_path / name).mkdir(parents=True)
        (tmp_path / "visible" / "file").write_text("visible")
        mounts = [
            Mount(tmp_path / "visible", PurePosixPath("/mnt/work/data")),
            Mount(tmp_path / "work", PurePosixPath("/mnt/work"), read_only=False),
        ]
        ended, output = bench.run(
            "cat data/file; touch ok; touch data/no && exit 1; exit 0",
            mounts=mounts,
            workdir=PurePosixPath("/mnt/work"),
        )
        assert ended.code == 0, output
        assert sorted(os.listdir(tmp_path / "work")) == ["data", "ok"]

    def test_a_symbolic_link_leads_nowhere(self, bench: Bench, tmp_path: Path) -> None:
        (tmp_path / "work").mkdir()
        (tmp_path / "secret").write_text("of the host")
        (tmp_path / "work" / "link").symlink_to(tmp_path / "secret")
        _, output = bench.run("cat /mnt/work/link", mounts=[Mount(tmp_path / "work", PurePosixPath("/mnt/work"))])
        assert "of the host" not in output

    def test_home_may_be_a_mount(self, bench: Bench, tmp_path: Path) -> None:
        (tmp_path / "home").mkdir()
        mounts = [Mount(tmp_path / "home", PurePosixPath("/home/agent"), read_only=False)]
        assert bench.run("echo kept > ~/file", mounts=mounts, limits=Limits(disk_bytes=1 << 20))[0].code == 0
        assert (tmp_path / "home" / "file").read_text() == "kept\n"


@pytest.mark.parametrize("sandbox", [BUBBLEWRAP], indirect=True)
class TestOptionsOfBubblewrap:
    def test_do_not_show_the_environment_to_other_users_of_the_host(self, bench: Bench) -> None:
        bench.start("sleep 600", env={"TOKEN": "tok-1234567"})
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(FileNotFoundError, ProcessLookupError):  # others come and go
                assert b"tok-1234567" not in path.read_bytes()
