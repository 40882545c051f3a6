"""Fill an empty PostgreSQL database with many made-up runs.

AGENT2_DATABASE_URL=postgresql://… python -m perf.load_site [--runs 20000] [--submissions 1000000]
"""

import argparse
import os
import tempfile
import time

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
os.environ.setdefault("AGENT2_DATA_DIR", tempfile.mkdtemp(prefix="agent2-perf-"))


def main() -> None:
    import django

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--submissions", type=int, default=1_000_000)
    options = parser.parse_args()
    django.setup()
    from django.core.management import call_command

    from perf.site.loading import load

    call_command("migrate", verbosity=0)
    began = time.perf_counter()
    print(load(options.runs, options.submissions), f"in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
