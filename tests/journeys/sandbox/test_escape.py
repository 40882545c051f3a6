"""Ways out that an agent may try, each in both sandboxes: contained, and the host as it was."""

import os
import socket
import time
from pathlib import Path, PurePosixPath

import psutil
import pytest

from benchmark.gateway.process import Gateway
from benchmark.sandbox.contract import Exit, Limits, Mount
from grading.intake import View, base_facts, checkpoint_take
from tests.support.waiting import until

from .conftest import ISOLATING, Bench, mark_of_sleep
from .upstream import Upstream

MIB = 1 << 20
pytestmark = pytest.mark.parametrize("sandbox", ISOLATING, indirect=True)


def python(code: str) -> str:
    """A shell command that runs the code and prints `refused NAME` for an exception."""
    body = "\n".join(f"    {line}" for line in code.strip().splitlines())
    program = (
        f"try:\n{body}\n    print('DONE')\nexcept BaseException as error:\n    print('refused', type(error).__name__)"
    )
    return "python3 - <<'END'\n" + program + "\nEND"


def sleeping(mark: str) -> list[psutil.Process]:
    return [each for each in psutil.process_iter(["cmdline"]) if mark in (each.info["cmdline"] or [])]


class TestTheHost:
    def test_its_files_cannot_be_had_by_way_of_proc(self, bench: Bench, tmp_path: Path) -> None:
        secret = tmp_path / "host-secret"
        secret.write_text("of the host")
        tried = "; ".join(f"cat /proc/{pid}/root{secret}" for pid in ("1", "self", str(os.getpid()), os.getppid()))
        _, output = bench.run(f"{tried}; cat /proc/{os.getpid()}/environ /proc/{os.getpid()}/mem; ls /proc/1/root/root")
        assert "of the host" not in output
        assert "PYTEST" not in output

    def test_the_kernels_memory_and_keys_are_closed(self, bench: Bench) -> None:
        script = "for f in kcore keys kallsyms; do head -c 64 /proc/$f 2>/dev/null | tr -d '\\0' | wc -c; done"
        ended, output = bench.run(f"{script}; dmesg 2>/dev/null | head -c 10; exit 0")
        assert ended == Exit(0)
        sizes = [int(word) for word in output.split() if word.isdigit()]
        assert sizes[0] == 0, output

    def test_another_runs_workspace_cannot_be_seen(self, bench: Bench, tmp_path: Path) -> None:
        for run in ("mine", "theirs"):
            (tmp_path / "runs" / run / "workspace").mkdir(parents=True)
            (tmp_path / "runs" / run / "workspace" / "weights").write_text(f"weights of {run}")
        mount = Mount(tmp_path / "runs" / "mine" / "workspace", PurePosixPath("/workspace"), read_only=False)
        tried = "cat weights ../*/weights ../../theirs/workspace/weights /runs/theirs/workspace/weights; ls -a .. /"
        _, output = bench.run(
            f"{tried}; cat {tmp_path}/runs/theirs/workspace/weights; ln -s {tmp_path}/runs/theirs escape; cat escape/*",
            mounts=[mount],
            workdir=PurePosixPath("/workspace"),
        )
        assert "weights of mine" in output
        assert "weights of theirs" not in output

    def test_the_container_engine_cannot_be_reached(self, bench: Bench) -> None:
        sockets = ("/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock")
        _, output = bench.run(
            "\n".join(python(f"import socket\nsocket.socket(socket.AF_UNIX).connect({path!r})") for path in sockets)
        )
        assert output.count("refused") == len(sockets)

    def test_signals_do_not_reach_outside(self, bench: Bench) -> None:
        me, parent = os.getpid(), os.getppid()
        _, output = bench.run(
            f"for p in {me} {parent}; do kill -9 $p && echo killed $p; done; (kill -9 -1) 2>/dev/null; echo end"
        )
        assert "killed" not in output
        assert psutil.pid_exists(me)
        assert psutil.pid_exists(parent)

    def test_the_clock_stays(self, bench: Bench) -> None:
        before = time.time() - time.monotonic()
        _, output = bench.run(
            "date -s '2001-01-01' 2>&1; "
            + python("import time\ntime.clock_settime(time.CLOCK_REALTIME, 978307200)")
            + "\nhwclock --set --date 2001-01-01 2>&1; exit 0"
        )
        assert "DONE" not in output
        assert abs(time.time() - time.monotonic() - before) < 5

    def test_devices_cannot_be_made_or_opened(self, bench: Bench) -> None:
        _, output = bench.run(
            "mknod ~/disk b 8 0 && echo made; mknod /tmp/mem c 1 1 && echo made; "
            "head -c 16 /dev/mem /dev/kmsg /dev/sda /dev/vda /dev/kvm /dev/fuse && echo read; exit 0"
        )
        assert "made" not in output
        assert "read\n" not in output

    def test_no_module_tracing_or_new_root(self, bench: Bench) -> None:
        _, output = bench.run(
            "insmod /tmp/x.ko && echo yes; mount -t tmpfs none /mnt && echo yes; chroot / true && echo yes; "
            + python(f"import ctypes\nassert ctypes.CDLL(None).ptrace(16, {os.getpid()}, 0, 0) == 0")
        )
        assert "yes" not in output
        assert "DONE" not in output


class TestTheNetwork:
    @pytest.mark.parametrize("address", ["169.254.169.254", "100.100.100.200", "10.0.0.1", "172.17.0.1"])
    def test_metadata_and_private_addresses(self, bench: Bench, address: str) -> None:
        code = f"import socket\nsocket.create_connection(({address!r}, 80), timeout=3)"
        assert "refused" in bench.run(python(code))[1]

    def test_names_are_not_resolved(self, bench: Bench) -> None:
        code = "import socket\nsocket.getaddrinfo('example.org', 443)"
        direct = "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\ns.sendto(b'x', ('1.1.1.1', 53))"
        _, output = bench.run(python(code) + "\n" + python(direct))
        assert output.count("refused") == 2

    @pytest.mark.parametrize(
        "kind",
        ["AF_INET, socket.SOCK_RAW, 1", "AF_PACKET, socket.SOCK_RAW, 3", "AF_INET6, socket.SOCK_RAW, 58"],
    )
    def test_raw_sockets(self, bench: Bench, kind: str) -> None:
        assert "refused" in bench.run(python(f"import socket\nsocket.socket(socket.{kind})"))[1]

    def test_vsock_and_the_hosts_unix_sockets(self, bench: Bench, tmp_path: Path) -> None:
        listener = socket.socket(socket.AF_UNIX)
        path = tmp_path / "of-the-host.sock"
        listener.bind(str(path))
        listener.listen()
        code = f"import socket\nsocket.socket(socket.AF_UNIX).connect({str(path)!r})"
        vsock = "import socket\ns = socket.socket(40, socket.SOCK_STREAM)\ns.settimeout(3)\ns.connect((2, 22))"
        _, output = bench.run(python(code) + "\n" + python(vsock))
        listener.close()
        assert output.count("refused") == 2

    def test_the_gateway_with_another_runs_token(self, bench: Bench, tmp_path: Path) -> None:
        path = tmp_path / "gateway" / "gateway.sock"
        tries = ("/grading/theirs/health", "/grading/mine/../theirs/health", "/admin/", "/grading/mine%2f..%2ftheirs/x")
        code = (
            "import os, http.client, urllib.parse\n"
            "where = urllib.parse.urlsplit(os.environ['GATEWAY'])\n"
            f"for path in ('/grading/mine/health', *{tries!r}):\n"
            "    ask = http.client.HTTPConnection(where.hostname, where.port, timeout=100)\n"
            "    ask.request('GET', path)\n"
            "    print(ask.getresponse().status, path)"
        )
        with Upstream() as server, Gateway(socket=path, upstream=server.url, prefixes=["/grading/mine/"]) as gateway:
            _, output = bench.run(python(code), socket=path, env={"GATEWAY": "{gateway}"})
            refused = dict(gateway.refused)
        assert output.splitlines()[0] == "200 /grading/mine/health"
        assert [line.split()[0] for line in output.splitlines()[1:5]] == ["403"] * 4
        assert set(refused) == set(tries)

    def test_the_gateways_socket_cannot_be_replaced(self, bench: Bench, tmp_path: Path) -> None:
        path = tmp_path / "gateway" / "gateway.sock"
        with Upstream() as server, Gateway(socket=path, upstream=server.url, prefixes=["/grading/mine/"]):
            _, output = bench.run(
                "cd /run/agent2/gateway && rm -f gateway.sock; touch new; mv gateway.sock old; exit 0", socket=path
            )
            assert os.listdir(path.parent) == ["gateway.sock"], output


class TestExhaustion:
    def test_a_fork_bomb(self, bench: Bench) -> None:
        began = time.monotonic()
        running = bench.start(
            "bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep 600", limits=Limits(processes=64, memory_bytes=512 * MIB)
        )
        running.wait(4)
        running.stop(0)
        assert time.monotonic() - began < 120
        until(lambda: len(psutil.pids()) < 5000)
        assert bench.run("echo alive")[1].endswith("alive\n")

    def test_a_memory_bomb_ends_alone(self, bench: Bench) -> None:
        code = "held = []\nwhile True:\n    held.append(bytearray(32 << 20))"
        ended, _ = bench.run(python(code), limits=Limits(memory_bytes=256 * MIB))
        assert ended.exceeded == "memory" or "refused MemoryError" in bench.output()

    def test_filling_the_disk(self, bench: Bench, tmp_path: Path) -> None:
        (tmp_path / "work").mkdir()
        mounts = [Mount(tmp_path / "work", PurePosixPath("/workspace"), read_only=False)]
        script = "for n in $(seq 400); do head -c 2000000 /dev/zero > /workspace/$n || break; done; sleep 200"
        ended, _ = bench.run(script, mounts=mounts, limits=Limits(disk_bytes=30 * MIB))
        assert ended.exceeded == "disk"

    def test_sparse_files_and_many_empty_ones(self, bench: Bench, tmp_path: Path) -> None:
        (tmp_path / "work").mkdir()
        mounts = [Mount(tmp_path / "work", PurePosixPath("/workspace"), read_only=False)]
        ended, _ = bench.run(
            "truncate -s 100G /workspace/sparse; echo $?", mounts=mounts, limits=Limits(disk_bytes=30 * MIB)
        )
        assert ended.code == 0 or ended.exceeded == "disk"
        size = (tmp_path / "work" / "sparse").stat().st_size if (tmp_path / "work" / "sparse").exists() else 0
        assert size <= 31 * MIB

    def test_memory_backed_folders_are_bounded(self, bench: Bench) -> None:
        bench.sandbox.tmp_bytes = 8 * MIB  # type: ignore[union-attr]
        script = "for d in /tmp /dev/shm ~; do head -c 20000000 /dev/zero > $d/fill; echo $d $?; done"
        _, output = bench.run(script)
        assert [line.split()[-1] for line in output.splitlines() if line[-1:] in "01"][-3:] == ["1", "1", "1"]

    def test_ignoring_every_signal_that_can_be_ignored(self, bench: Bench) -> None:
        mark = mark_of_sleep()
        running = bench.start(
            f"trap '' TERM INT HUP QUIT USR1 USR2; (trap '' TERM; setsid sleep {mark} &); echo ready; "
            "while :; do sleep 1; done"
        )
        until(lambda: "ready" in bench.output() and sleeping(mark))
        began = time.monotonic()
        running.stop(1)
        assert running.hits == {"sigterm"}
        assert time.monotonic() - began < 60
        until(lambda: not sleeping(mark))

    def test_what_was_hit_on_the_way_is_told_and_the_command_goes_on(self, bench: Bench) -> None:
        bench.sandbox.tmp_bytes = 4 * MIB  # type: ignore[union-attr]
        kernel = "control groups" in bench.sandbox.means()["memory"]
        bombs = (
            "held = []",
            "try:",
            "    while len(held) < 100:",
            "        held.append(os.fork() or (time.sleep(600), os._exit(0)))",
            "except OSError: pass",
            "for pid in held: os.kill(pid, 9), os.waitpid(pid, 0)",
            "if os.fork() == 0: held = bytearray(600 << 20)",
            "os.wait()",
        )
        script = "\n".join(["import os, time", *(bombs if kernel else ()), "print('bombed', flush=True)"])
        flood = "head -c 9000000 /dev/zero > /tmp/fill; head -c 3000000 /dev/zero; sleep 5; exit 0"
        ended, output = bench.run(
            f'exec 2>&1; python3 -c "{script}"; {flood}',
            limits=Limits(processes=32, memory_bytes=200 * MIB, disk_bytes=1 << 30) if kernel else Limits(),
            log_bytes=1 * MIB,
        )
        assert ended == Exit(0), output[:2000]
        assert output.startswith("bombed\n")
        assert len(output) < 1.1 * MIB
        assert bench.started[-1].hits == {"tmp", "log", *(("memory", "processes") if kernel else ())}

    def test_a_stopped_process_is_ended_too(self, bench: Bench) -> None:
        mark = mark_of_sleep()
        running = bench.start(
            f"sleep {mark} & until grep -q {mark} /proc/$!/cmdline; do :; done; kill -STOP $! $$; sleep 600"
        )
        until(lambda: [each for each in sleeping(mark) if each.status() == psutil.STATUS_STOPPED])
        running.stop(0.5)
        until(lambda: not sleeping(mark))


class TestWhatIsHandedOver:
    def test_read_only_mounts_stay_as_they_are(self, bench: Bench, tmp_path: Path) -> None:
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / "weights").write_bytes(b"as they were")
        before = (tmp_path / "model" / "weights").stat()
        _, output = bench.run(
            "cd /model; echo x > weights; chmod 777 weights; mv weights away; rm -f weights; touch new; "
            "ln weights ~/linked; setfattr -n user.x -v y weights; mount -o remount,rw /model; umount /model; exit 0",
            mounts=[Mount(tmp_path / "model", PurePosixPath("/model"))],
        )
        after = (tmp_path / "model" / "weights").stat()
        assert os.listdir(tmp_path / "model") == ["weights"], output
        assert (after.st_mode, after.st_mtime_ns, after.st_nlink) == (before.st_mode, before.st_mtime_ns, 1)

    def test_links_planted_for_the_grader_are_refused(self, bench: Bench, tmp_path: Path, base: Path) -> None:
        work, secret = tmp_path / "work", tmp_path / "host-secret.json"
        work.mkdir()
        secret.write_text('{"of": "the host"}')
        script = f"""
            cd /workspace; cp -r /model whole; cp -r /model part; cp -r /model deep; cp -r /model hard
            ln -s {secret.parent} folder
            ln -sf {secret} part/config.json
            rm deep/model.safetensors; ln -s ../../../../../../../../../..{secret} deep/model.safetensors
            rm hard/tokenizer.json; mkfifo hard/tokenizer.json
            ln -s whole alias; echo planted
        """
        mounts = [
            Mount(work, PurePosixPath("/workspace"), read_only=False),
            Mount(base, PurePosixPath("/model")),
        ]
        assert "planted" in bench.run(script, mounts=mounts)[1]
        facts, view = base_facts(base), View(((PurePosixPath("/workspace"), work),))
        store = tmp_path / "store"
        for submitted in ("folder", "part", "deep", "hard", "alias", "folder/work/whole", "../host-secret.json"):
            report = checkpoint_take(
                view=view, workspace=PurePosixPath("/workspace"), model_path=submitted, base=facts, store=store
            )
            assert report.findings, submitted
            assert all(not each.code.startswith("I_") for each in report.findings), (submitted, report.findings)
        kept = [path for path in store.rglob("*") if path.is_file()] if store.exists() else []
        assert not any(b"the host" in path.read_bytes() for path in kept)
