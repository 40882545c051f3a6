"""`python -m benchmark.join URL TOKEN`: make this machine a host of workers. Standard library only.

Exchanges the token of `manage.py host enrol` for the settings of this host's workers, which it writes to worker.env in
the data folder, readable by its owner alone. With `--start` it then becomes the worker.
"""

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path


def joined(url: str, token: str) -> dict[str, str]:
    """The settings. Raises: SystemExit: the server says no, or cannot be reached."""
    if not url.startswith(("https://", "http://")):
        raise SystemExit(f"{url} is no address of a site.")
    request = urllib.request.Request(  # noqa: S310 - looked at above
        url.rstrip("/") + "/worker/join", data=b"", method="POST", headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            told = json.load(answer)
    except urllib.error.HTTPError as error:
        try:
            detail = json.load(error)["detail"]
        except (ValueError, KeyError):
            detail = error.reason
        raise SystemExit(f"{url} says no: {detail}") from error
    except (urllib.error.URLError, ValueError) as error:
        raise SystemExit(f"{url} cannot be asked: {error}") from error
    return {str(name): str(value) for name, value in told["environment"].items()}


def written(folder: Path, settings: dict[str, str]) -> Path:
    """The file, one NAME='value' a line: a shell and Docker Compose alike take what is quoted so as it is.

    Raises: SystemExit: a value cannot be written so.
    """
    for name, value in settings.items():
        if set(value) & set("'\r\n"):
            raise SystemExit(f"{name} holds a single quote or a line's end; choose another value on the web server.")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "worker.env"
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.writelines(f"{name}='{value}'\n" for name, value in sorted(settings.items()))
    return path


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmark.join", description=__doc__)
    parser.add_argument("url", help="of the site, such as https://bench.example.org")
    parser.add_argument("token", help="of `manage.py host enrol`")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("AGENT2_DATA_DIR", "/srv/agent2")))
    parser.add_argument("--start", action="store_true", help="become the worker")
    given = parser.parse_args()
    settings = joined(given.url, given.token) | {"AGENT2_DATA_DIR": str(given.data.absolute())}
    path = written(given.data.absolute(), settings)
    print(f"{settings['AGENT2_PLACE']} has joined; its settings: {path}")  # noqa: T201
    if given.start:
        command = [sys.executable, "manage.py", "worker", "--queues", settings["AGENT2_QUEUES"]]
        # What is set here counts before what the server told, but the folder is the one that was joined with.
        own = {**settings, **os.environ, "AGENT2_DATA_DIR": settings["AGENT2_DATA_DIR"]}
        os.execve(sys.executable, command, own)  # noqa: S606 - fixed arguments
    return 0


if __name__ == "__main__":
    sys.exit(main())
