"""A clean process that forks one candidate after another. It is never told a test, so no candidate can remember one.

Standard input is a socket to the judge. `f` with one file descriptor: fork a candidate that talks on it; the answer is
an `ANSWER` of zeros. `e`: kill that candidate; the answer is its wait status and the processor time that it used, in
microseconds. End of file: kill it and end.
"""

import ctypes
import gc
import importlib
import os
import random
import resource
import signal
import socket
import struct
import sys

from . import candidate, seccomp
from .wire import Channel

CPU_S = 3
MEMORY_BYTES = 1 << 30
CHANNEL_FD = 3
ANSWER = struct.Struct("!qq")
PR_SET_PDEATHSIG = 1
LIMITS = {
    resource.RLIMIT_CPU: (CPU_S, CPU_S + 1),
    resource.RLIMIT_AS: (MEMORY_BYTES, MEMORY_BYTES),
    resource.RLIMIT_FSIZE: (0, 0),
    resource.RLIMIT_NOFILE: (CHANNEL_FD + 1, CHANNEL_FD + 1),
    resource.RLIMIT_NPROC: (0, 0),
    resource.RLIMIT_CORE: (0, 0),
}
MODULES = """
    _strptime abc argparse array ast asyncio base64 binascii bisect builtins calendar cmath codecs collections
    collections.abc colorsys concurrent.futures configparser contextlib contextvars copy copyreg csv ctypes dataclasses
    datetime decimal difflib dis email enum errno fnmatch fractions functools gc getpass glob graphlib gzip hashlib
    heapq hmac html html.parser importlib inspect io ipaddress itertools json keyword linecache locale logging marshal
    math numbers operator os os.path pathlib pickle platform pprint queue random re reprlib sched secrets shlex shutil
    signal statistics string stringprep struct subprocess sys sysconfig tempfile textwrap threading time timeit token
    tokenize traceback types typing unicodedata unittest unittest.mock urllib.parse uuid warnings weakref
    xml.etree.ElementTree zipfile zlib zoneinfo encodings.ascii encodings.latin_1 encodings.utf_16 encodings.utf_32
    encodings.idna encodings.cp437 encodings.raw_unicode_escape encodings.unicode_escape encodings.rot_13
    encodings.hex_codec
"""
"""What a candidate can import: it cannot read a file any more, so nothing else."""


def main() -> None:
    judge = socket.socket(fileno=0)
    for name in MODULES.split():
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    pid = 0
    while True:
        order, descriptors, _, _ = socket.recv_fds(judge, 1, 1)
        if order == b"f":
            pid = os.fork()
            if pid == 0:
                _become_candidate(descriptors[0])
            os.close(descriptors[0])
            judge.sendall(ANSWER.pack(0, 0))
            continue
        ended = _end(pid) if pid else (0, 0)
        pid = 0
        if order != b"e":
            return
        judge.sendall(ANSWER.pack(*ended))


def _end(pid: int) -> tuple[int, int]:
    os.kill(pid, signal.SIGKILL)
    _, status, used = os.wait4(pid, 0)
    return status, int(1e6 * (used.ru_utime + used.ru_stime))


def _become_candidate(channel_fd: int) -> None:
    """Never returns: the forked process answers the judge and ends."""
    code = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        _keep_only(channel_fd)
        os.environ.clear()
        sys.argv[:] = [""]
        random.seed(0)
        channel = Channel(CHANNEL_FD)
        try:
            for limit, values in LIMITS.items():
                resource.setrlimit(limit, values)
            seccomp.lock_down()
        except (seccomp.Unavailable, OSError, ValueError) as why:
            channel.send({"fault": str(why)})
        else:
            candidate.serve(channel)
            code = 0
    finally:
        os._exit(code)


def _keep_only(channel_fd: int) -> None:
    """The channel as descriptor 3; the first three lead nowhere."""
    kept = os.dup(channel_fd) if channel_fd < CHANNEL_FD else channel_fd
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(CHANNEL_FD):
        os.dup2(nowhere, standard)
    if kept != CHANNEL_FD:
        os.dup2(kept, CHANNEL_FD)
    os.closerange(CHANNEL_FD + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


if __name__ == "__main__":
    main()
