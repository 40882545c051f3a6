"""Object storage: one large file kept and read back, beside boto3 alone with the same server.

    python -m perf.bench_storage [--mb 500]

The server is moto's, in a process of its own on this machine: written in Python, it takes part of every time, so only
the ratios say something. What is added to boto3 is the SHA-256 of the whole and of each part, and comparing them.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil
from boto3.s3.transfer import TransferConfig

from benchmark.artifacts.s3 import PART, S3Artifacts
from tests.support.object_storage import BUCKET, object_server

MIB = 1 << 20


def timed(what: str, megabytes: float, work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    took = time.perf_counter() - began
    memory = psutil.Process().memory_info().rss / MIB
    print(f"{what:24} {took:7.2f} s {megabytes / took:8.1f} MiB/s, memory {memory:.0f} MiB", flush=True)
    return took


def bench(megabytes: int, folder: Path) -> None:
    path, back = folder / "large", folder / "back"
    with path.open("wb") as out:
        for _ in range(megabytes):
            out.write(os.urandom(MIB))
    parts = TransferConfig(multipart_threshold=PART, multipart_chunksize=PART, max_concurrency=4)
    with object_server(folder) as server:
        storage = S3Artifacts(**server.options)
        client = storage.client
        storage.held("nothing")  # connections and service models are made at the first request
        bare_up = timed("boto3 up", megabytes, lambda: client.upload_file(str(path), BUCKET, "bare", Config=parts))
        kept = timed("kept", megabytes, lambda: storage.keep("large", path))
        bare_down = timed(
            "boto3 down", megabytes, lambda: client.download_file(BUCKET, "bare", str(back), Config=parts)
        )
        read = timed("read in blocks", megabytes, lambda: sum(map(len, storage.blocks("large"))))
    print(f"kept takes {kept / bare_up:.2f} times as long as boto3, read {read / bare_down:.2f} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=500)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    with tempfile.TemporaryDirectory() as folder:
        bench(parser.parse_args().mb, Path(folder))


if __name__ == "__main__":
    main()
