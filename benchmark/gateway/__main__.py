"""`python -m benchmark.gateway --socket PATH --upstream URL`: a gateway on its own, until it is interrupted.

The prefixes hold tokens and a command line is everybody's to read, so they come in the environment variable
AGENT2_GATEWAY_PREFIXES, separated by spaces.
"""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path

from benchmark.gateway.grading_route import GradingRoute
from benchmark.gateway.process import listening_socket, make_server, serve
from benchmark.gateway.routes import GatewayApp

PREFIXES = "AGENT2_GATEWAY_PREFIXES"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmark.gateway", description=__doc__)
    parser.add_argument("--socket", type=Path, required=True)
    parser.add_argument("--upstream", required=True, help="such as http://127.0.0.1:8000")
    given = parser.parse_args()
    prefixes = os.environ.pop(PREFIXES, "").split()
    if not prefixes:
        print(f"Set {PREFIXES} to the paths to forward, such as /grading/<token>/.", file=sys.stderr)  # noqa: T201
        return 2
    app = GatewayApp([GradingRoute(given.upstream, prefixes)])
    listener = listening_socket(given.socket)
    # The server lets a signal through once more after it has ended: then as an exception, to clean up behind it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        asyncio.run(serve(make_server(app), app, listener))
    finally:
        given.socket.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
