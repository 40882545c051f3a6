"""One database URL to Django's dictionary."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

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
        # A server that is back is found again within seconds: by itself the pool pauses longer and longer.
        options["pool"] = {"min_size": 1, "max_size": pool_size, "timeout": 20, "reconnect_timeout": 3}
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
