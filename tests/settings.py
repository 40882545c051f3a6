"""The product's settings over a data folder of the test session's own."""

import os
import tempfile

os.environ.setdefault("AGENT2_DATA_DIR", tempfile.mkdtemp(prefix="agent2-tests-"))

from config.settings import *  # noqa: E402, F403
