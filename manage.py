#!/usr/bin/env python
"""Django's command line."""

import logging
import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db import OperationalError, ProgrammingError

from config.database import HASTY


def main() -> None:
    """What an operator can mend is told in one line."""
    HASTY.set()
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(str(error))
    except (OperationalError, ProgrammingError) as error:
        from benchmark.services.database_check import database_problem

        problem = database_problem()
        if not problem and isinstance(error, ProgrammingError):
            raise
        sys.exit(problem or f"The database says: {error}")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    main()
