"""Ways out of a sandbox by system call, as a program of its own: `python probes.py [NAME...]`. Standard library only.

Each probe runs in a process of its own and prints `NAME worked` or `NAME refused REASON`. Outside, as root, all of them
work: that is the control which shows that a refusal inside is the sandbox's.
"""

import ctypes
import os
import socket
import struct
import sys
import tempfile
from collections.abc import Callable, Mapping

LIBC = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
NUMBERS = {  # from the kernel's tables: x86_64, arm64
    "add_key": (248, 217),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "perf_event_open": (298, 241),
    "open_by_handle_at": (304, 265),
    "name_to_handle_at": (303, 264),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "fsopen": (430, 430),
    "open_tree": (428, 428),
    "unshare": (272, 97),
    "setns": (308, 268),
    "clone3": (435, 435),
    "swapon": (167, 224),
    "sethostname": (170, 161),
    "process_vm_readv": (310, 270),
    "pidfd_getfd": (438, 438),
    "memfd_secret": (447, 447),
}
NEW_USER, NEW_MOUNT = 0x10000000, 0x00020000


def call(name: str, *args: object) -> int:
    """Raises: OSError."""
    done = int(LIBC.syscall(NUMBERS[name][0 if X86 else 1], *args))
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


def keys() -> None:
    """Put a key where the next process of the same user finds it."""
    call("add_key", b"user", b"agent2-probe", b"left behind", 11, ctypes.c_int(-4))


def session_keyring() -> None:
    """Read the keyring that was inherited from whoever started us."""
    call("keyctl", 11, ctypes.c_int(-3), 0, 0)


def bpf() -> None:
    """A map: BPF_MAP_CREATE of an array."""
    attributes = struct.pack("IIII", 2, 4, 8, 1) + bytes(112)
    call("bpf", 0, attributes, len(attributes))


def userfaultfd() -> None:
    call("userfaultfd", 0)


def io_uring() -> None:
    call("io_uring_setup", 1, ctypes.create_string_buffer(120))


def perf_events() -> None:
    """Count another's cycles in the kernel: a software event of every process on one CPU."""
    attributes = bytearray(128)
    struct.pack_into("IIQ", attributes, 0, 1, 128, 0)
    call("perf_event_open", bytes(attributes), ctypes.c_int(-1), 0, ctypes.c_int(-1), 0)


def file_handles() -> None:
    """Open a file by its number instead of its path, as who escaped from containers did in 2014."""
    handle = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    number = ctypes.c_int()
    call("name_to_handle_at", ctypes.c_int(-100), b"/usr", handle, ctypes.byref(number), 0)
    place = os.open("/usr", os.O_RDONLY)
    call("open_by_handle_at", place, handle, os.O_RDONLY)


def mount() -> None:
    call("mount", b"none", tempfile.mkdtemp().encode(), b"tmpfs", 0, 0)


def bind_mount() -> None:
    call("mount", b"/usr", tempfile.mkdtemp().encode(), 0, 4096, 0)


def new_mount_api() -> None:
    call("fsopen", b"tmpfs", 0)


def cloned_tree() -> None:
    call("open_tree", ctypes.c_int(-100), b"/usr", 1)


def user_namespace() -> None:
    call("unshare", NEW_USER | NEW_MOUNT)


def namespaces_by_clone3() -> None:
    arguments = struct.pack("QQQQQ", NEW_USER, 0, 0, 0, 17) + bytes(48)
    if call("clone3", arguments, 64 + 24) == 0:
        os._exit(0)


def host_name() -> None:
    call("sethostname", os.uname().nodename.encode(), len(os.uname().nodename))


def another_root() -> None:
    os.chroot("/usr")


def device_node() -> None:
    os.mknod(os.path.join(tempfile.mkdtemp(), "zero"), 0o20666, os.makedev(1, 5))


def kernel_log() -> None:
    with open("/dev/kmsg", "rb", buffering=0) as log:
        log.read(8192)


def raw_socket() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)


def packet_socket() -> None:
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)


def netlink_routes() -> None:
    """Bring the loopback interface down and up again."""
    import fcntl

    with socket.socket() as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sh", b"lo", 0x49) + bytes(14))


def clock() -> None:
    import time

    time.clock_settime(time.CLOCK_REALTIME, time.time())


def nice() -> None:
    os.nice(-1)


def real_time() -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def reboot() -> None:
    """Only the state of Ctrl-Alt-Del, which stays as it is on a machine without a keyboard."""
    if LIBC.reboot(ctypes.c_int(0)):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def another_user() -> None:
    os.setuid(os.getuid() + 1)


def own_files_given_away() -> None:
    path = os.path.join(tempfile.mkdtemp(), "x")
    open(path, "w").close()
    os.chown(path, os.getuid() + 1, -1)


PROBES: Mapping[str, Callable[[], None]] = {
    each.__name__: each
    for each in (
        *(keys, session_keyring, bpf, userfaultfd, io_uring, perf_events, file_handles),
        *(mount, bind_mount, new_mount_api, cloned_tree, user_namespace, namespaces_by_clone3),
        *(host_name, another_root, device_node, kernel_log, raw_socket, packet_socket, netlink_routes, clock),
        *(nice, real_time, reboot, another_user, own_files_given_away),
    )
}


def attempt(name: str) -> None:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            PROBES[name]()
            print(name, "worked", flush=True)
        except BaseException as error:
            print(name, "refused", type(error).__name__, error, flush=True)
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or PROBES:
        attempt(wanted)
