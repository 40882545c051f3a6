"""Whether the database can be reached and has its tables: asked before a worker starts, and when a command failed."""

from contextlib import closing

from django.db import OperationalError, connection
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.migrations.executor import MigrationExecutor


def database_problem() -> str:
    """One sentence that says what to do; empty when nothing is wrong."""
    try:
        if "pool" in connection.settings_dict["OPTIONS"]:
            # First without it: a pool waits for a server to come back, and does not say why it is away.
            with closing(connection.copy(NO_DB_ALIAS)) as alone:
                alone.ensure_connection()
        connection.ensure_connection()
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except OperationalError as error:
        told = " ".join(str(error).split())
        return f"The database cannot be reached ({told}): set AGENT2_DATABASE_URL, or start it."
    return f"The database lacks {len(missing)} migrations: run `manage.py migrate`." if missing else ""
