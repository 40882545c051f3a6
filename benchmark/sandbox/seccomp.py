"""A filter of system calls (seccomp(2)) that no agent and no grading runner needs and that many escapes began with.

Docker's own profile is an allow-list and stays in force; older ones let io_uring through. Bubblewrap has none. What is
denied fails with EPERM, as in Docker, so that programs fall back.
"""

import errno
import platform
import struct
from collections.abc import Iterator, Mapping

AUDIT_ARCH: Mapping[str, int] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""linux/audit.h."""
DENIED: Mapping[str, tuple[int, int]] = {  # linux' tables: x86_64, aarch64
    # Keys belong to users and sessions of the host, not to a sandbox.
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    # Large, young parts of the kernel.
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # What only those need who are to change the machine.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "setns": (308, 268),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
}
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, DENY = 0x7FFF0000, 0x00050000 | errno.EPERM
X32 = 0x40000000
"""Numbers from here on are x86_64's second table, of calls with 32-bit pointers."""


def seccomp_filter(machine: str = "") -> bytes:
    """The filter as an array of `struct sock_filter`; empty on machines whose numbers are not listed here."""
    machine = machine or platform.machine()
    if machine not in AUDIT_ARCH:
        return b""
    column = list(AUDIT_ARCH).index(machine)
    return b"".join(
        struct.pack("HBBI", *each) for each in _program(machine, sorted(n[column] for n in DENIED.values()))
    )


def _program(machine: str, denied: list[int]) -> Iterator[tuple[int, int, int, int]]:
    """Instructions: code, how many to leap when true, when false, and the operand. The last but one allows."""
    to_deny = len(denied) + 2
    yield LOAD, 0, 0, 4  # the architecture: another one's numbers mean other calls
    yield EQUAL, 0, to_deny + 1, AUDIT_ARCH[machine]
    yield LOAD, 0, 0, 0  # the call's number
    yield AT_LEAST, to_deny - 1, 0, X32
    for left, number in zip(range(len(denied), 0, -1), denied, strict=True):
        yield EQUAL, left, 0, number
    yield RETURN, 0, 0, ALLOW
    yield RETURN, 0, 0, DENY
