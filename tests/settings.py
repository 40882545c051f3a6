"""The product's settings over a data folder of the test session's own, and a database file as in use, not in memory."""

import atexit
import os
import shutil
import tempfile

if "AGENT2_DATA_DIR" not in os.environ:  # else the process that started this one has made it
    os.environ["AGENT2_DATA_DIR"] = tempfile.mkdtemp(prefix="agent2-tests-")
    atexit.register(shutil.rmtree, os.environ["AGENT2_DATA_DIR"], ignore_errors=True)

from config.settings import *  # noqa: F403
from config.settings import DATA_DIR, DATABASES

if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}

# The real one takes half a second on purpose.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
