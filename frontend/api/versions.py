"""What an ETag is made of: numbers that change whenever an answer would, and cost a millisecond to ask for.

The newest id alone would not do: ids are given out before their transactions commit, so a lower one can become visible
later. The sum of the newest few hundred changes then too.
"""

import hashlib
from functools import cache
from pathlib import Path

from django.db import connection, models
from django.http import HttpRequest

NEWEST = 300


def tables_version(*tables: type[models.Model]) -> str:
    """Changes when a row is added to one of the tables, or one of the newest is deleted. One query."""
    quote = connection.ops.quote_name
    parts = [
        f"SELECT COALESCE(MAX(id), 0), COALESCE(SUM(id), 0) FROM "  # noqa: S608  (names of our own tables)
        f"(SELECT id FROM {quote(table._meta.db_table)} ORDER BY id DESC LIMIT {NEWEST}) AS newest_{number}"
        for number, table in enumerate(tables)
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return ".".join(f"{top}-{total}" for top, total in cursor.fetchall())


def etag_of(request: HttpRequest, version: str) -> str:
    """Weak, since compression may change bytes; it differs by address, reader and the code that answers."""
    reader = request.user.pk if request.user.is_authenticated else ""
    told = f"{code_version()}|{request.get_full_path()}|{reader}|{version}"
    return f'W/"{hashlib.sha256(told.encode()).hexdigest()[:24]}"'


@cache
def code_version() -> str:
    """A digest of this room's Python files."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).resolve().parents[1].rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
