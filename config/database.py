"""One database URL to Django's dictionary, and what its connections do while the server is away."""

import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

HASTY = threading.Event()
"""Set where somebody waits for a command: a server that cannot be reached at first is not waited for."""
CONNECT_S = 10
"""For one attempt: of an address from which nothing comes back."""
SQLITE_PRAGMAS = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000; PRAGMA foreign_keys=ON"


def database_from_url(url: str, *, pool_size: int) -> dict[str, Any]:
    """`sqlite:////abs/path` or `postgresql://user:password@host:port/name?sslmode=…`.

    Raises: ImproperlyConfigured: another scheme, no name, or a port that is no number.
    """
    parts = urlsplit(url)
    try:
        port = str(parts.port or "")
    except ValueError:
        raise ImproperlyConfigured("AGENT2_DATABASE_URL has a port that is no number.") from None
    name = unquote(parts.path[1:])
    if not name:
        raise ImproperlyConfigured("AGENT2_DATABASE_URL names no database.")
    options: dict[str, Any]
    if parts.scheme == "sqlite":
        options = {"init_command": SQLITE_PRAGMAS, "transaction_mode": "IMMEDIATE", "timeout": 20}
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": name, "OPTIONS": options, "CONN_MAX_AGE": 60}
    if parts.scheme in {"postgres", "postgresql"}:
        options = dict(parse_qsl(parts.query))
        # Statements that come again are planned once a connection.
        options |= {"server_side_binding": True, "prepare_threshold": 3}
        options.setdefault("connect_timeout", CONNECT_S)
        # A server that is back is found again within seconds: by itself the pool pauses longer and longer.
        options["pool"] = {
            "min_size": 1,
            "max_size": pool_size,
            "timeout": 20,
            "reconnect_timeout": 3,
            "reconnect_failed": server_away,
        }
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": name,
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": port,
            # A restarted server leaves dead connections in the pool.
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": options,
        }
    raise ImproperlyConfigured(f"AGENT2_DATABASE_URL scheme {parts.scheme!r} must be sqlite or postgresql.")


def server_away(pool: "ConnectionPool[Any]") -> None:
    """Begin again while somebody waits: psycopg's pool gives up, and tries again only for whoever comes next.

    In a command that has not reached the server once, end the waiting instead (PoolClosed, an OperationalError).
    """
    told = pool.get_stats()
    if HASTY.is_set() and told.get("connections_num", 0) <= told.get("connections_errors", 0):
        # Elsewhere: closing waits for the pool's threads, and this is one of them.
        threading.Thread(target=pool.close, kwargs={"timeout": 1}, daemon=True).start()
        return
    with pool._lock:
        if pool._waiting:
            pool._maybe_grow_pool()
