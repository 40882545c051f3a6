"""Takes from this process, for good, every system call but computing, remembering, telling the time and its open files.

A Linux seccomp filter needs no privilege, so it works inside any sandbox, where further namespaces usually do not.
Left is what Python needs to run code that is already loaded. Refused with EPERM are, among all others: opening or
looking up files, sockets, new processes and threads, signals to anybody, tracing, other processes' memory.
"""

import ctypes
import os
from collections.abc import Sequence

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
OFFSET_NUMBER, OFFSET_ARCHITECTURE = 0, 4
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000
"""REFUSE carries errno 1, EPERM."""

ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""The kernel's name for each, and its column below."""
NONE = -1
CALLS = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "nanosleep": (35, 101),
    "getpid": (39, 172),
    "exit": (60, 93),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "times": (100, 153),
    "sigaltstack": (131, 132),
    "gettid": (186, 178),
    "time": (201, NONE),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "getrandom": (318, 278),
}


class Unavailable(Exception):
    """The filter cannot be set here; the message says why."""


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.POINTER(_Instruction)))


def instructions(architecture: int, numbers: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """The filter as (code, jump if true, jump if false, operand)."""
    tests = [(JUMP_IF_EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    return [
        (LOAD_WORD, 0, 0, OFFSET_ARCHITECTURE),
        (JUMP_IF_EQUAL, 1, 0, architecture),
        (RETURN, 0, 0, KILL),
        (LOAD_WORD, 0, 0, OFFSET_NUMBER),
        *tests,
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]


def lock_down() -> None:
    """Set the filter and see that it holds. Raises: Unavailable."""
    machine = os.uname().machine
    if machine not in ARCHITECTURES:
        raise Unavailable(f"no system call filter for {machine}; known are {', '.join(ARCHITECTURES)}")
    architecture, column = ARCHITECTURES[machine]
    listing = instructions(architecture, [call[column] for call in CALLS.values() if call[column] != NONE])
    array = (_Instruction * len(listing))(*(_Instruction(*each) for each in listing))
    program = _Program(len(listing), array)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for arguments in (
        (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if prctl(*arguments) != 0:
            raise Unavailable(f"the kernel refuses a system call filter: {os.strerror(ctypes.get_errno())}")
    try:
        os.stat("/")
    except PermissionError:
        return
    raise Unavailable("the system call filter does not hold")
