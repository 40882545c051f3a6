"""Runs inside a sandbox as the parent of the command. Standard library only, one file: it is mounted on its own.

    python forwarder.py [--socket PATH --port N [--patience SECONDS]] [--everyone] [--deny HEX] -- COMMAND...

Listens on 127.0.0.1:N (0: any free port) and joins each connection to the UNIX socket PATH, again where the other end
goes before it has answered. In the environment of COMMAND every `{gateway}` becomes `http://127.0.0.1:N`. Reaps
orphans, so that it can be PID 1; passes signals on to the command, or with `--everyone` to every process that it may
signal; exits with the command's code (128 + signal). HEX is a seccomp filter (benchmark/sandbox/seccomp.py).
"""

import argparse
import asyncio
import contextlib
import os
import re
import signal
import socket
import struct
import sys
import threading
from collections.abc import Mapping, Sequence

HEEDED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
"""What Python, a shell's background or nohup may have made us ignore; the command starts without that."""
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
CHUNK = 1 << 16
KEPT_MOST = 1 << 21
"""Of a request that may have to be sent again."""
SAFE = re.compile(rb"(?:GET|HEAD) ")
SUBMIT = re.compile(rb"\APOST [^ ?\r\n]*/submit/*(?:\?[^ \r\n]*)? HTTP/1\.1\r\n")
CHUNKED = re.compile(rb"\AHTTP/1\.1 2[^\r]*\r\n(?:[^\r]+\r\n)*?transfer-encoding: chunked\r\n", re.IGNORECASE)
LAST_CHUNK = b"0\r\n\r\n"
MARK = b"X-Agent2-Attempt"
"""A header that tells the gateway that two requests are one: it makes the submission's idempotency key of it."""
REPEATS_MOST = 1000
"""How often one connection is joined anew."""
LINGER_S = 5.0
RESET_AFTER_S = 1.0
"""For the client to read what came: libuv takes a reset that it sees together with the last bytes for a mere end."""
PAUSE_S = 0.25
PATIENCE_S = 300.0
SECCOMP, FILTER, NO_NEW_PRIVILEGES = 22, 2, 38
"""linux/prctl.h and linux/seccomp.h."""
LONGEST_ADDRESS = 107


class Joint:
    """One accepted connection, joined to one to the UNIX socket, each direction until its own end.

    When the far side goes before it has answered, as a gateway does with its worker, a request that may be repeated is
    sent again to whoever serves the socket next: a submission can wait for hours, and whoever waits is told nothing.

    When it goes in the middle of a streamed answer, the near connection is reset: UNIX sockets know no reset, and some
    clients ask again after one, but not after a mere end.

    Bare sockets rather than streams: a stream whose writing fails forgets what there was to read.
    """

    def __init__(self, path: str, near: socket.socket, patience_s: float) -> None:
        self.path, self.near, self.patience_s = path, near, patience_s
        self.far = socket.socket(socket.AF_UNIX)
        self.asked = bytearray()
        """What has come of a request to which nothing was answered yet; empty where it cannot be repeated."""
        self.fresh = True
        """Whether the next bytes are the first ones since an answer."""
        self.left = False
        """Whether the near side has nothing more to say."""
        self.chunked, self.last = False, b""
        """Whether the latest answer comes in chunks, and its last bytes."""
        self.sending = asyncio.Lock()

    async def join(self) -> None:
        self.near.setblocking(False)
        self.near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a streamed answer is many small writes
        up = None
        try:
            if not await self._reach():
                return
            up = asyncio.create_task(self._up())
            for _ in range(REPEATS_MOST):
                await self._down()
                if self.left or not self.asked:
                    break
                await asyncio.sleep(PAUSE_S)
                if not await self._reach():
                    break
            if self.chunked and self.last != LAST_CHUNK:
                await asyncio.sleep(RESET_AFTER_S)
                self.near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            with contextlib.suppress(OSError):
                self.near.shutdown(socket.SHUT_WR)
            await asyncio.wait([up], timeout=LINGER_S)
        finally:
            if up is not None:
                up.cancel()
                await asyncio.wait([up])
            self.far.close()
            self.near.close()

    async def _reach(self) -> bool:
        """Connect, and ask again what was asked. While nobody serves the socket a new worker may be about to."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.patience_s
        async with self.sending:
            self.far.close()
            while loop.time() < deadline and not self.left:
                self.far = socket.socket(socket.AF_UNIX)
                self.far.setblocking(False)
                try:
                    await loop.sock_connect(self.far, self.path)
                    await loop.sock_sendall(self.far, self.asked)
                except (FileNotFoundError, ConnectionError):
                    self.far.close()
                    await asyncio.sleep(PAUSE_S)
                except OSError:
                    return False
                else:
                    return True
        return False

    async def _up(self) -> None:
        """What the near side says, and then its end.

        Reading on where the far side is gone matters: closing a TCP socket with unread bytes resets it, and the peer
        would lose an answer that was sent before its request was read to the end, such as a 413.
        """
        loop = asyncio.get_running_loop()
        with contextlib.suppress(OSError):
            while data := await loop.sock_recv(self.near, CHUNK):
                async with self.sending:
                    with contextlib.suppress(OSError):
                        await loop.sock_sendall(self.far, self._kept(data))
        self.left = True
        with contextlib.suppress(OSError):
            self.far.shutdown(socket.SHUT_WR)

    def _kept(self, data: bytes) -> bytes:
        """What to send for the data, noted down while it may have to be sent again."""
        if self.fresh:
            self.fresh = False
            if not SAFE.match(data):
                data, marked = SUBMIT.subn(
                    lambda line: line[0] + b"%s: %s\r\n" % (MARK, os.urandom(16).hex().encode()), data
                )
                if not marked:
                    return data
        elif not self.asked:
            return data
        self.asked += data
        if len(self.asked) > KEPT_MOST:
            self.asked.clear()
        return data

    async def _down(self) -> None:
        """What the far side answers."""
        loop = asyncio.get_running_loop()
        readable = True
        with contextlib.suppress(OSError):
            while data := await loop.sock_recv(self.far, CHUNK):
                self.asked.clear()
                if not self.fresh:
                    self.chunked, self.last = CHUNKED.match(data) is not None, b""
                self.fresh = True
                self.last = (self.last + data[-len(LAST_CHUNK) :])[-len(LAST_CHUNK) :]
                if readable:
                    try:
                        await loop.sock_sendall(self.near, data)
                    except OSError:
                        readable = False


async def serve(listener: socket.socket, path: str, patience_s: float) -> None:
    listener.setblocking(False)
    joined: set[asyncio.Task[None]] = set()
    while True:
        try:
            near, _ = await asyncio.get_running_loop().sock_accept(listener)
            joint = Joint(path, near, patience_s)
        except OSError:
            # No descriptor is left: some are given back when connections end.
            await asyncio.sleep(PAUSE_S)
            continue
        task = asyncio.create_task(joint.join())
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


def deny(program: bytes) -> None:
    """Have the kernel refuse system calls to this thread and all that it starts (seccomp(2), prctl(2)).

    Where it has no such filters, as under an emulator, the engine's own profile has to do.
    """
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    told = Program(len(program) // 8, program)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, ctypes.byref(told), 0, 0):
        print(f"no filter of system calls: {os.strerror(ctypes.get_errno())}", file=sys.stderr)  # noqa: T201


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
    parser.add_argument("--deny", type=bytes.fromhex, default=b"", metavar="HEX")
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    # Blocked until the handlers are in place, and for good in the forwarding thread: only the main thread waits for
    # the command, so only it may be interrupted.
    signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    environment = dict(os.environ)
    if given.socket:
        environment = filled_in(environment, start_forwarding(given.socket, given.port, given.patience))
    if given.deny:
        deny(given.deny)
    pid = spawn(given.command, environment)
    pass_signals_on(pid, given.everyone)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
    return reap_until(pid)


if __name__ == "__main__":
    code = main()
    # No interpreter shutdown: the forwarding thread never ends by itself.
    os._exit(code)
