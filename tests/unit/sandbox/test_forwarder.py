"""The forwarder and the keeper as programs."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from benchmark.sandbox.forwarder import connectable, filled_in
from benchmark.sandbox.inside import FORWARDER_SOURCE
from benchmark.sandbox.process import KEEPER

STREAMED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def forward(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", str(FORWARDER_SOURCE), *args]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={"PATH": os.environ["PATH"], **environment},
    )


def test_fills_in_the_url_everywhere() -> None:
    given = {"A": "{gateway}/x", "B": "plain {other}", "C": "{gateway} {gateway}"}
    assert filled_in(given, "u") == {"A": "u/x", "B": "plain {other}", "C": "u u"}


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 9", 9), ("kill -TERM $$", 143), ("kill -KILL $$", 137)]
)
def test_passes_the_code_on(script: str, code: int) -> None:
    assert forward("--", "bash", "-c", script).returncode == code


def test_says_what_cannot_be_started() -> None:
    missing = forward("--", "/no/such/program")
    assert (missing.returncode, missing.stderr) == (127, "/no/such/program: No such file or directory\n")
    assert forward("--", "/etc/passwd").returncode == 126


def test_gives_the_command_a_free_port_and_no_ignored_signal(tmp_path: Path) -> None:
    args = ["--socket", str(tmp_path / "s"), "--port", "0", "--", "bash", "-c", 'echo "$URL"; grep Sig /proc/$$/status']
    done = forward(*args, URL="{gateway}/p")
    first, *masks = done.stdout.splitlines()
    assert first.startswith("http://127.0.0.1:")
    assert first.endswith("/p")
    # 1 to 31: the C library keeps 32 and 33 to itself.
    assert [int(line.split()[1], 16) & 0x7FFFFFFF for line in masks if line.startswith(("SigIgn", "SigBlk"))] == [0, 0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_passes_signals_on(number: signal.Signals) -> None:
    script = f"trap 'echo got; exit 3' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
    command = [sys.executable, "-I", str(FORWARDER_SOURCE), "--", "bash", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.stdout.read() == "got\n"
        assert process.wait(120) == 3


def listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


class TestConnections:
    def test_half_closed_ones_go_on_in_the_other_direction(self, tmp_path: Path) -> None:
        listener = listening(tmp_path / "s")

        def serve() -> None:
            far, _ = listener.accept()
            with far:
                got = b"".join(iter(lambda: far.recv(65536), b""))
                far.sendall(str(len(got)).encode() * 100_000)

        threading.Thread(target=serve, daemon=True).start()
        script = (
            "import os, socket; near = socket.create_connection(('127.0.0.1', int(os.environ['URL'].split(':')[2])));"
            "near.sendall(bytes(3_000_000)); near.shutdown(socket.SHUT_WR);"
            "print(len(b''.join(iter(lambda: near.recv(65536), b''))))"
        )
        args = ["--socket", str(tmp_path / "s"), "--port", "0", "--", sys.executable, "-c", script]
        assert forward(*args, URL="{gateway}").stdout == "700000\n"

    def test_end_when_nobody_listens_for_long(self, tmp_path: Path) -> None:
        script = (
            "import os, socket; near = socket.create_connection(('127.0.0.1', int(os.environ['URL'].split(':')[2])));"
            "print(near.recv(10))"
        )
        args = ["--socket", str(tmp_path / "nobody"), "--port", "0", "--patience", "0.3", "--"]
        assert forward(*args, sys.executable, "-c", script, URL="{gateway}").stdout == "b''\n"

    @pytest.mark.parametrize(
        ("request_line", "before", "times"),
        [
            (b"POST /g/t/submit HTTP/1.1", b"", 2),
            (b"GET /g/t/health HTTP/1.1", b"", 2),
            (b"POST /provider/v1/messages HTTP/1.1", b"", 1),
            (b"GET /g/t/health HTTP/1.1", b"HTTP/1.1 200 OK\r\n", 1),
        ],
    )
    def test_are_joined_anew_when_nothing_was_answered(
        self, tmp_path: Path, request_line: bytes, before: bytes, times: int
    ) -> None:
        """`before`: what is answered before the other end goes."""
        listener = listening(tmp_path / "s")
        got: list[bytes] = []

        def serve() -> None:
            while True:
                far, _ = listener.accept()
                with far:
                    text = b""
                    while not text.endswith(b"\r\n\r\nbody"):
                        text += far.recv(65536)
                    got.append(text)
                    far.sendall(before if len(got) == 1 else b"answered")

        threading.Thread(target=serve, daemon=True).start()
        script = (
            "import os, socket, sys, time;"
            "near = socket.create_connection(('127.0.0.1', int(os.environ['URL'].split(':')[2])));"
            "near.sendall(sys.argv[1].encode() + b'\\r\\nHost: x\\r\\n'); time.sleep(0.1); near.sendall(b'\\r\\nbody');"
            "print(b''.join(iter(lambda: near.recv(65536), b'')))"
        )
        args = ["--socket", str(tmp_path / "s"), "--port", "0", "--", sys.executable, "-c", script]
        done = forward(*args, request_line.decode(), URL="{gateway}")
        assert done.stdout.strip() == str(b"answered" if times == 2 else before), done.stderr
        assert len(got) == times
        assert len(set(got)) == 1
        assert (b"\r\nX-Agent2-Attempt: " in got[0]) == request_line.startswith(b"POST /g")

    @pytest.mark.parametrize(
        ("pieces", "told"),
        [
            ([STREAMED, b"5\r\nhello\r\n"], "hello, reset"),
            ([STREAMED[:-2], b"\r\n5\r\nhello"], "hello, reset"),
            ([STREAMED, b"5\r\nhello\r\n0\r", b"\n\r\n"], "hello, ended"),
            ([b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"], "hello, ended"),
        ],
    )
    def test_are_reset_when_a_streamed_answer_breaks_off(self, tmp_path: Path, pieces: list[bytes], told: str) -> None:
        listener = listening(tmp_path / "s")

        def serve() -> None:
            far, _ = listener.accept()
            with far:
                far.recv(65536)
                for piece in pieces:
                    far.sendall(piece)
                    time.sleep(0.1)

        threading.Thread(target=serve, daemon=True).start()
        script = (
            "import os, socket; near = socket.create_connection(('127.0.0.1', int(os.environ['URL'].split(':')[2])));"
            "near.sendall(b'POST /x HTTP/1.1\\r\\n\\r\\n'); got, how = b'', 'ended'\n"
            "try:\n"
            "    while piece := near.recv(65536):\n"
            "        got += piece\n"
            "except ConnectionResetError:\n"
            "    how = 'reset'\n"
            "print('hello' if b'hello' in got else got, how, sep=', ')"
        )
        args = ["--socket", str(tmp_path / "s"), "--port", "0", "--", sys.executable, "-c", script]
        done = forward(*args, URL="{gateway}")
        assert done.stdout.strip() == told, done.stderr

    def test_nothing_is_asked_again_for_a_client_that_left(self, tmp_path: Path) -> None:
        listener = listening(tmp_path / "s")
        script = (
            "import os, socket; near = socket.create_connection(('127.0.0.1', int(os.environ['URL'].split(':')[2])));"
            "near.sendall(b'POST /submit HTTP/1.1\\r\\n\\r\\n'); input(); near.close(); input()"
        )
        command = [sys.executable, "-I", str(FORWARDER_SOURCE), "--socket", str(tmp_path / "s"), "--port", "0", "--"]
        process = subprocess.Popen(
            [*command, sys.executable, "-c", script], stdin=subprocess.PIPE, env={**os.environ, "URL": "{gateway}"}
        )
        with process, listener:
            far, _ = listener.accept()
            assert far.recv(65536).startswith(b"POST /submit")
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
            assert far.recv(65536) == b""
            far.close()
            listener.settimeout(1)
            with pytest.raises(TimeoutError):
                listener.accept()
            process.stdin.close()

    def test_long_paths(self, tmp_path: Path) -> None:
        folder = tmp_path / ("x" * 120)
        folder.mkdir()
        through = connectable(str(folder / "s"))
        assert len(through) < 107
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(through)
        assert (folder / "s").is_socket()
        os.close(int(through.split("/")[4]))
        assert connectable("/short") == "/short"


class TestKeeper:
    def test_does_not_start_without_its_supervisor(self, tmp_path: Path) -> None:
        read_fd, write_fd = os.pipe()
        os.close(write_fd)
        command = [sys.executable, str(KEEPER), str(read_fd), "--", "touch", str(tmp_path / "ran")]
        assert subprocess.run(command, pass_fds=[read_fd], timeout=120, check=False).returncode == 137
        os.close(read_fd)
        assert not (tmp_path / "ran").exists()
