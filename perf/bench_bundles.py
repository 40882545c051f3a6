"""Runs made elsewhere: a large bundle's upload beside a bare server, its check, and many small bundles.

    python -m perf.bench_bundles [--mb 500] [--transcript-mb 60] [--small 1000] [--services]

Starts the platform's own processes, on SQLite or (`--services`) on PostgreSQL and Redis. Upload speed stands beside
that of the same client and server program with an application that throws the bytes away, and one that only writes.
Memory is the largest of the checking process and of the worker that imports.
"""

import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.support.bundling import DETAILS, FOLDER, bundle_bytes, workspace_files
from tests.support.platform import ROOT, Platform, free_port, services
from tests.support.tus import Tus

BARE = """
import os
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    out = open(os.environ["INTO"], "wb", buffering=1 << 20) if os.environ.get("INTO") else None
    more = True
    while more:
        message = await receive()
        if out: out.write(message.get("body", b""))
        more = message.get("more_body", False)
    if out: out.close()
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})
"""
PEOPLE = """
from tests.support.people import person
from benchmark.services.tokens import token_create
_, secret = token_create(user=person("ada", "submitter"), name="perf", scopes=["read", "submit"])
print("secret", secret)
"""
PIECE = 1 << 20
ENDED = ("accepted", "rejected")


def large(path: Path, megabytes: float, transcript_mb: float) -> None:
    """A consistent run with a transcript of that size and, up to the whole, records that do not compress."""
    rng = random.Random(5)
    files = workspace_files()
    transcript = files.pop(f"{FOLDER}/agent.jsonl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        with archive.open(f"{FOLDER}/agent.jsonl", "w") as out:
            out.write(transcript)
            size = len(transcript)
            while size < transcript_mb * 1e6:
                said = [{"type": "text", "text": rng.randbytes(1500).hex()}]
                message = {"id": f"x{size}", "content": said}
                line = json.dumps({"type": "assistant", "session_id": "s", "message": message}) + "\n"
                size += out.write(line.encode())
        number = 0
        while path.stat().st_size < megabytes * 1e6:
            left = int(megabytes * 1e6) - path.stat().st_size
            info = zipfile.ZipInfo(f"{FOLDER}/reports/figures/{number}.bin")
            archive.writestr(info, rng.randbytes(min(left, 64 << 20)), zipfile.ZIP_STORED)
            number += 1


def pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while data := file.read(PIECE):
            yield data


@contextlib.contextmanager
def bare(folder: Path, into: str) -> Iterator[str]:
    """An application that throws the bytes away, or only writes them."""
    (folder / "bare.py").write_text(BARE)
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "bare:app", "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(command, cwd=folder, env=os.environ | {"INTO": into})
    try:
        for _ in range(100):
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"http://127.0.0.1:{port}/")
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def timed_put(http: httpx.Client, url: str, path: Path) -> float:
    """MB per second."""
    began = time.perf_counter()
    size = path.stat().st_size
    http.patch(url, content=pieces(path), headers={"content-length": str(size)}, timeout=600).raise_for_status()
    return size / 1e6 / (time.perf_counter() - began)


def upload(tus: Tus, path: Path) -> tuple[str, float]:
    """The bundle's address, MB per second, its digest included."""
    size = path.stat().st_size
    began = time.perf_counter()
    place = tus.announce(size, path.name, details=DETAILS)
    headers = tus.headers | {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    headers["Content-Length"] = str(size)
    answer = tus.http.patch(tus.url + place, headers=headers, content=pieces(path), timeout=600)
    answer.raise_for_status()
    return str(answer.headers["Bundle-Location"]), size / 1e6 / (time.perf_counter() - began)


def checked(site: Platform, tus: Tus, place: str, seconds: float = 600) -> tuple[dict[str, Any], float, float]:
    """The report, seconds until it ended, and the worker's peak memory in MB."""
    began = time.perf_counter()
    told: dict[str, Any] = {}
    peak = 0.0

    def ended() -> bool:
        nonlocal peak
        if site.worker is not None:
            with contextlib.suppress(psutil.Error):
                peak = max(peak, psutil.Process(site.worker.pid).memory_info().rss / 1e6)
        told.update(site.http.get(site.url + "/api/v1" + place, headers=tus.headers).json())
        return told["state"] in ENDED

    site.until(ended, seconds, "the check ends")
    return told, time.perf_counter() - began, peak


def one_large(site: Platform, tus: Tus, folder: Path, asked: argparse.Namespace) -> None:
    path = folder / "large.zip"
    large(path, asked.mb, asked.transcript_mb)
    print(f"bundle of {path.stat().st_size / 1e6:.0f} MB, transcript {asked.transcript_mb:.0f} MB")
    with httpx.Client() as http:
        with bare(folder, "") as url:
            away = timed_put(http, url, path)
        with bare(folder, str(folder / "written")) as url:
            written = timed_put(http, url, path)
        (folder / "written").unlink()
    site.start_worker()
    time.sleep(8)
    idle = psutil.Process(site.worker.pid).memory_info().rss / 1e6 if site.worker else 0.0
    place, speed = upload(tus, path)
    print(f"upload: bytes thrown away {away:.0f} MB/s, only written {written:.0f} MB/s, ours, hashed, {speed:.0f} MB/s")
    told, seconds, peak = checked(site, tus, place)
    report = told["report"]
    print(
        f"check: {told['state']} in {seconds:.1f} s; checking process {report['seconds']:.1f} s and "
        f"{report['peak_mb']:.0f} MB; worker {idle:.0f} MB before, {peak:.0f} MB at most"
    )


def many_small(site: Platform, tus: Tus, folder: Path, count: int) -> None:
    rng = random.Random(3)
    began = time.perf_counter()
    places = []
    for number in range(count):
        path = folder / f"small{number}.zip"
        path.write_bytes(bundle_bytes((round(rng.uniform(40, 60), 2), None, round(rng.uniform(60, 90), 2))))
        places.append(upload(tus, path)[0])
        path.unlink()
    uploaded = time.perf_counter() - began
    last = [checked(site, tus, place, 1200)[0]["state"] for place in (places[-1], *places)]
    total = time.perf_counter() - began
    accepted = last.count("accepted") - 1
    print(f"{count} small bundles: uploaded in {uploaded:.0f} s, imported in {total:.0f} s, {accepted} accepted")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=float, default=500)
    parser.add_argument("--transcript-mb", type=float, default=60)
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--services", action="store_true")
    asked = parser.parse_args()
    with contextlib.ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="agent2-perf-")))
        extra = held.enter_context(services()) if asked.services else {}
        site = Platform(folder / "data", extra | {"AGENT2_BUNDLE_QUOTA_GB": "100", "AGENT2_API_PER_MINUTE_USER": "0"})
        held.callback(site.stop)
        site.manage("migrate", "-v0")
        site.start_server()
        told = site.manage("shell", "-c", PEOPLE)
        secret = next(line.split()[1] for line in told.splitlines() if line.startswith("secret "))
        tus = Tus(site.http, site.url, secret)
        print(f"{'PostgreSQL and Redis' if asked.services else 'SQLite'}, {os.cpu_count()} cores, in {ROOT.name}")
        one_large(site, tus, folder, asked)
        many_small(site, tus, folder, asked.small)


if __name__ == "__main__":
    main()
