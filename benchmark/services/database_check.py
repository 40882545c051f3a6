"""Whether the database can be reached and has its tables: asked before a worker starts, and when a command failed."""

from django.db import OperationalError, connection
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.migrations.executor import MigrationExecutor


def database_problem() -> str:
    """One sentence that says what to do; empty when nothing is wrong."""
    pooled = "pool" in connection.settings_dict["OPTIONS"]
    # Without the pool, which would wait for a server to come back and not say why it is away.
    asked = connection.copy(NO_DB_ALIAS) if pooled else connection
    try:
        asked.ensure_connection()
        executor = MigrationExecutor(asked)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except OperationalError as error:
        told = " ".join(str(error).split())
        return f"The database cannot be reached ({told}): set AGENT2_DATABASE_URL, or start it."
    finally:
        if pooled:
            asked.close()
    return f"The database lacks {len(missing)} migrations: run `manage.py migrate`." if missing else ""
