"""A server that speaks S3, with a gate before it that can be shut: the objects outlive an outage."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import httpx
from botocore.config import Config

from tests.support.platform import free_port

BUCKET = "artifacts-of-tests"


class Gate:
    """Passes TCP connections on to `target`; shut, it refuses new ones and cuts those that are open."""

    def __init__(self, target: int) -> None:
        self.port, self._target = free_port(), target
        self._listener: socket.socket | None = None
        self._open: set[socket.socket] = set()

    def open(self) -> None:
        self._listener = listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def shut(self) -> None:
        if self._listener is not None:
            # Closing alone would leave the thread in accept(), and the port open with it.
            with contextlib.suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                return
            self._open |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_WR)
        self._open.discard(source)


@dataclass
class ObjectServer:
    """moto's server in a process of its own, and the settings that lead to it."""

    port: int
    gate: Gate
    client: Any = field(repr=False)
    """Straight to the server, past the gate."""

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AGENT2_S3_BUCKET": BUCKET,
            "AGENT2_S3_ENDPOINT_URL": f"http://127.0.0.1:{self.gate.port}",
            "AGENT2_S3_ACCESS_KEY": "key-of-tests",
            "AGENT2_S3_SECRET_KEY": "secret-of-tests",
            "AGENT2_S3_PREFIX": "bench/one",
        }

    @property
    def options(self) -> dict[str, Any]:
        """The same as options of the storage."""
        return {
            "bucket_name": BUCKET,
            "endpoint_url": f"http://127.0.0.1:{self.gate.port}",
            "region_name": "us-east-1",
            "access_key": "key-of-tests",
            "secret_key": "secret-of-tests",
            "addressing_style": "path",
            "location": "bench/one",
        }

    def names(self) -> list[str]:
        """Keys in the bucket."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        return sorted(each["Key"] for page in pages for each in page.get("Contents", ()))

    def empty(self) -> None:
        for name in self.names():
            self.client.delete_object(Bucket=BUCKET, Key=name)


@contextlib.contextmanager
def object_server(folder: Path) -> Iterator[ObjectServer]:
    """Started with an empty bucket; ended with the block."""
    port = free_port()
    with (folder / "moto.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log
        )
    gate = Gate(port)
    try:
        _answers(f"http://127.0.0.1:{port}/", process)
        client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{port}",
            region_name="us-east-1",
            aws_access_key_id="key-of-tests",
            aws_secret_access_key="secret-of-tests",
            config=Config(s3={"addressing_style": "path"}),
        )
        client.create_bucket(Bucket=BUCKET)
        gate.open()
        yield ObjectServer(port, gate, client)
    finally:
        gate.shut()
        process.kill()
        process.wait(30)


def _answers(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            httpx.get(url, timeout=30)
            return
        time.sleep(0.1)
    raise AssertionError("the S3 server did not start")
