"""The packer against the real server: sent whole, cut on the way, gone on with later."""

import hashlib
import json
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from benchmark.services.tokens import token_create
from bundles.models import Bundle, BundleState, Upload
from bundles.packer.join import packer_source
from bundles.packer.uploading import Uploader, UploadFailed
from bundles.services.checking import bundle_check_next
from tests.support.bundling import bundle_bytes
from tests.support.waiting import LONG_S, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def token(owner_user: User) -> str:
    return token_create(user=owner_user, name="packer", scopes=("submit", "read"))[1]


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "run.zip"
    path.write_bytes(bundle_bytes())
    return path


@contextmanager
def cutting(url: str, after: list[int]) -> Iterator[str]:
    """A relay to `url` that drops each of its first connections once so many bytes of it have passed."""
    host, port = url.removeprefix("http://").split(":")
    listener = socket.create_server(("127.0.0.1", 0))

    def relay(client: socket.socket, budget: int | None) -> None:
        with closing(client), closing(socket.create_connection((host, int(port)))) as server:
            back = threading.Thread(target=copy, args=(server, client, None), daemon=True)
            back.start()
            if copy(client, server, budget):
                client.shutdown(socket.SHUT_RDWR)
            back.join(60)

    def copy(source: socket.socket, target: socket.socket, budget: int | None) -> bool:
        try:
            while data := source.recv(100):
                target.sendall(data)
                budget = None if budget is None else budget - len(data)
                if budget is not None and budget <= 0:
                    target.shutdown(socket.SHUT_RDWR)
                    return True
        except OSError:
            pass
        return False

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=relay, args=(client, after.pop(0) if after else None), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


def test_a_bundle_is_sent_and_its_digest_comes_back(live_server: Any, token: str, archive: Path) -> None:
    steps: list[tuple[int, int]] = []
    page = Uploader(live_server.url, token, archive).send(lambda done, of: steps.append((done, of)))
    bundle = Bundle.objects.get()
    assert page == f"{live_server.url}/bundles/{bundle.slug}/"
    assert bundle.path.read_bytes() == archive.read_bytes()
    assert steps[0][0] == 0
    assert steps[-1] == (len(archive.read_bytes()),) * 2
    assert not archive.with_name("run.zip.upload.json").exists()


def test_pieces_and_cuts_cost_nothing_but_time(
    live_server: Any, token: str, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bundles.packer.uploading.CHUNK", 300)
    with cutting(live_server.url, [10_000, 450, 200, 380]) as url:
        Uploader(url, token, archive, sleep=lambda _: None).send(lambda *_: None)
    assert Bundle.objects.get().path.read_bytes() == archive.read_bytes()


def test_a_second_call_goes_on(live_server: Any, token: str, archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bundles.packer.uploading.CHUNK", 400)

    class Stopped(Exception):
        pass

    def stop(done: int, _of: int) -> None:
        if done >= 800:
            raise Stopped

    with pytest.raises(Stopped):
        Uploader(live_server.url, token, archive).send(stop)
    assert Upload.objects.get().offset == 800
    seen: list[int] = []
    Uploader(live_server.url, token, archive).send(lambda done, _: seen.append(done))
    assert seen[0] == 800
    assert Upload.objects.count() == 1
    assert Bundle.objects.get().path.read_bytes() == archive.read_bytes()


def test_an_upload_that_expired_begins_anew(live_server: Any, token: str, archive: Path) -> None:
    told = {"url": live_server.url + "/", "place": f"{live_server.url}/bundles/upload/gone/", "sha256": ""}
    uploader = Uploader(live_server.url, token, archive)
    state = archive.with_name("run.zip.upload.json")
    state.write_text(json.dumps(told | {"sha256": hashlib.sha256(archive.read_bytes()).hexdigest()}))
    uploader.send(lambda *_: None)
    assert Bundle.objects.count() == 1


@pytest.mark.parametrize(("given", "status"), [("wrong", "401"), ("", "40")])
def test_a_stranger_is_told(live_server: Any, archive: Path, given: str, status: str) -> None:
    with pytest.raises(UploadFailed, match=status):
        Uploader(live_server.url, given, archive).send(lambda *_: None)
    assert not Upload.objects.exists()


def test_what_the_server_refuses_is_said_in_its_words(live_server: Any, token: str, tmp_path: Path) -> None:
    path = tmp_path / "run.exe"
    path.write_bytes(b"MZ")
    with pytest.raises(UploadFailed, match="400"):
        Uploader(live_server.url, token, path).send(lambda *_: None)


def test_no_server(token: str, archive: Path) -> None:
    with pytest.raises(OSError, match="refused"):
        Uploader("http://127.0.0.1:9", token, archive, sleep=lambda _: None).send(lambda *_: None)


def test_the_one_file_sends_a_workspace_and_waits_for_the_check(
    live_server: Any, token: str, tmp_path: Path, archive: Path
) -> None:
    packer = tmp_path / "agent2_pack.py"
    packer.write_text(packer_source(), encoding="utf-8")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(tmp_path / "run")
    given = ["--set", "contact.name=Ada", "--set", "licence=MIT", "--set", "base_model.revision=main"]
    command = [sys.executable, "-I", "-S", str(packer), "send", "run", "--url", live_server.url, "--yes", *given]
    process = subprocess.Popen(
        command, cwd=tmp_path, env={"AGENT2_TOKEN": token, "PYTHONUTF8": "1"}, stdout=subprocess.PIPE, text=True
    )
    with process:
        until(lambda: bundle_check_next() or process.poll() is not None, "there is something to check", 2 * LONG_S)
        told = process.communicate(timeout=2 * LONG_S)[0]
    assert process.returncode == 0, told
    assert "State: accepted" in told
    assert Bundle.objects.get().state == BundleState.ACCEPTED
