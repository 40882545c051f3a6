"""The product's settings over a data folder of the test process' own, and a database file as in use, not in memory."""

import atexit
import os
import shutil
import tempfile

if "AGENT2_DATA_DIR" not in os.environ:  # else the process that started this one has made it
    os.environ["AGENT2_DATA_DIR"] = tempfile.mkdtemp(prefix="agent2-tests-")
    atexit.register(shutil.rmtree, os.environ["AGENT2_DATA_DIR"], ignore_errors=True)
if os.environ.get("PYTEST_XDIST_WORKER", "") not in ("", os.path.basename(os.environ["AGENT2_DATA_DIR"])):
    # Else they would take messages from each other's queue.
    os.environ["AGENT2_DATA_DIR"] = os.path.join(os.environ["AGENT2_DATA_DIR"], os.environ["PYTEST_XDIST_WORKER"])
    os.makedirs(os.environ["AGENT2_DATA_DIR"], exist_ok=True)

from config.settings import *  # noqa: F403
from config.settings import DATA_DIR, DATABASES

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}

# The real one takes half a second on purpose.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
