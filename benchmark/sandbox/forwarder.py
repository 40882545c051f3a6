"""Runs inside a sandbox as the parent of the command. Standard library only, one file: it is mounted on its own.

    python forwarder.py [--socket PATH --port N [--patience SECONDS]] [--everyone] -- COMMAND...

Listens on 127.0.0.1:N (0: any free port) and joins each connection to the UNIX socket PATH. In the environment of
COMMAND every `{gateway}` becomes `http://127.0.0.1:N`. Reaps orphans, so that it can be PID 1; passes signals on to
the command, or with `--everyone` to every process that it may signal; exits with the command's code (128 + signal).
"""

import argparse
import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence

HEEDED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
"""What Python, a shell's background or nohup may have made us ignore; the command starts without that."""
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
CHUNK = 1 << 16
LINGER_S = 5.0
PATIENCE_S = 300.0
LONGEST_ADDRESS = 107


async def pump(source: socket.socket, sink: socket.socket) -> None:
    """Copy until `source` ends, then pass the end on. A sink that is gone is no reason to stop reading.

    Reading on matters: closing a TCP socket with unread bytes resets it, and the peer would lose an answer that was
    sent before its request was read to the end, such as a 413.
    """
    loop = asyncio.get_running_loop()
    writable = True
    with contextlib.suppress(OSError):
        while data := await loop.sock_recv(source, CHUNK):
            if writable:
                try:
                    await loop.sock_sendall(sink, data)
                except OSError:
                    writable = False
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


async def reached(far: socket.socket, path: str, patience_s: float) -> bool:
    """Connect. While nobody serves the socket a new worker may be about to: then it is tried again for a while."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_s
    while loop.time() < deadline:
        try:
            await loop.sock_connect(far, path)
        except (FileNotFoundError, ConnectionRefusedError):
            await asyncio.sleep(0.25)
        except OSError:
            return False
        else:
            return True
    return False


async def join(path: str, near: socket.socket, patience_s: float) -> None:
    """Join one accepted connection to a new one to the UNIX socket, each direction until its own end.

    Bare sockets rather than streams: a stream whose writing fails forgets what there was to read.
    """
    with near, socket.socket(socket.AF_UNIX) as far:
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a streamed answer is many small writes
        for side in (near, far):
            side.setblocking(False)
        if not await reached(far, path, patience_s):
            return
        up = asyncio.create_task(pump(near, far))
        try:
            await pump(far, near)
            await asyncio.wait([up], timeout=LINGER_S)
        finally:
            up.cancel()
            await asyncio.wait([up])


async def serve(listener: socket.socket, path: str, patience_s: float) -> None:
    listener.setblocking(False)
    joined: set[asyncio.Task[None]] = set()
    while True:
        near, _ = await asyncio.get_running_loop().sock_accept(listener)
        task = asyncio.create_task(join(path, near, patience_s))
        joined.add(task)
        task.add_done_callback(joined.discard)


def connectable(path: str) -> str:
    """The path, or where it is too long for a socket's address (107 bytes), one through its folder's descriptor."""
    if len(os.fsencode(path)) <= LONGEST_ADDRESS:
        return path
    folder, name = os.path.split(path)
    return f"/proc/self/fd/{os.open(folder, os.O_PATH | os.O_DIRECTORY)}/{name}"


def start_forwarding(path: str, port: int, patience_s: float = PATIENCE_S) -> str:
    """Listen, forward in a thread of its own, and return the base URL. Connections queue from this moment on."""
    path = connectable(path)
    listener = socket.create_server(("127.0.0.1", port), backlog=512)
    threading.Thread(target=lambda: asyncio.run(serve(listener, path, patience_s)), daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def filled_in(environment: Mapping[str, str], url: str) -> dict[str, str]:
    return {name: value.replace("{gateway}", url) for name, value in environment.items()}


def spawn(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Start the command with no signal blocked or ignored; its pid. A command that cannot start ends us as a shell."""
    try:
        return os.posix_spawnp(command[0], list(command), environment, setsigmask=(), setsigdef=HEEDED)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)  # noqa: T201 - goes to the run's log
        raise SystemExit(127 if isinstance(error, FileNotFoundError) else 126) from error


def pass_signals_on(pid: int, everyone: bool) -> None:
    def handler(number: int, _frame: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1 if everyone else pid, number)

    for number in PASSED_ON:
        signal.signal(number, handler)


def reap_until(pid: int) -> int:
    """Collect every child that ends, until `pid` does; its code."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--socket")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--patience", type=float, default=PATIENCE_S)
    parser.add_argument("--everyone", action="store_true")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    # Blocked until the handlers are in place, and for good in the forwarding thread: only the main thread waits for
    # the command, so only it may be interrupted.
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    environment = dict(os.environ)
    if given.socket:
        environment = filled_in(environment, start_forwarding(given.socket, given.port, given.patience))
    pid = spawn(given.command, environment)
    pass_signals_on(pid, given.everyone)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    return reap_until(pid)


if __name__ == "__main__":
    code = main()
    # No interpreter shutdown: the forwarding thread never ends by itself.
    os._exit(code)
