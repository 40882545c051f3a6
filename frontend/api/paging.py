"""Pages by keyset: a cursor names the last row, so that no page skips or repeats a row while others are added."""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db.models import F, Model, Q, QuerySet
from django.db.models.expressions import OrderBy
from django.http import HttpRequest
from django.utils.dateparse import parse_datetime
from rest_framework.exceptions import ValidationError

from frontend.api.parameters import Parameter

LIMIT, LIMIT_MOST = 50, 200
M = TypeVar("M", bound=Model)
PAGING = (
    Parameter("limit", "Rows on a page.", "integer", low=1, high=LIMIT_MOST, default=LIMIT),
    Parameter("cursor", "Where the page begins, as `next` of the last answer has it."),
)
BAD = "This cursor is not one that this listing gave out, or its order has changed. Leave it out to begin anew."


@dataclass(frozen=True)
class Order:
    """By one expression, then by id in the same direction. What has no value comes last in both directions."""

    name: str
    """As the caller gave it, such as `-best_score`."""
    field: str
    moment: bool = False
    tie: str = "pk"
    """What names a row among equals; the id, or a column that always equals it."""
    always: bool = False
    """Whether every row has a value: then an ordinary index serves."""

    @property
    def falling(self) -> bool:
        return self.name.startswith("-")

    @property
    def keys(self) -> list[OrderBy]:
        tie = F(self.tie).desc() if self.falling else F(self.tie).asc()
        key, last = F(self.field), None if self.always else True
        return [key.desc(nulls_last=last) if self.falling else key.asc(nulls_last=last), tie]

    def after(self, value: Any, pk: int) -> Q:
        """Rows that come after the one with this value and id."""
        way = "lt" if self.falling else "gt"
        later = Q(**{f"{self.tie}__{way}": pk})
        if value is None:
            return Q(**{f"{self.field}__isnull": True}) & later
        beyond, same = Q(**{f"{self.field}__{way}": value}), Q(**{self.field: value})
        rest = beyond | (same & later)
        return rest if self.always else rest | Q(**{f"{self.field}__isnull": True})


@dataclass(frozen=True)
class KeysetPage(Generic[M]):
    """Ids in order, and the address of what follows, None at the end."""

    ids: list[int]
    next: str | None


def keyset_page(request: HttpRequest, rows: QuerySet[M], order: Order, given: Any) -> KeysetPage[M]:
    """One page of ids, in one query. Raises: ValidationError: the cursor is nonsense."""
    if cursor := given.get("cursor"):
        rows = rows.filter(order.after(*_read(cursor, order)))
    limit = given["limit"]
    found: Any = list(rows.order_by(*order.keys).values_list(order.tie, order.field)[: limit + 1])
    shown = found[:limit]
    more = len(found) > limit
    return KeysetPage([pk for pk, _ in shown], next_of(request, _write(shown[-1], order)) if more else None)


def next_of(request: HttpRequest, cursor: str) -> str:
    """The same address with another cursor."""
    query = request.GET.copy()
    query["cursor"] = cursor
    return f"{request.build_absolute_uri(request.path)}?{query.urlencode()}"


def cursor_write(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def cursor_read(text: str, *kinds: type | tuple[type, ...]) -> list[Any]:
    """Raises: ValidationError: not parts of these kinds."""
    try:
        parts = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        parts = None
    if not isinstance(parts, list) or len(parts) != len(kinds):
        raise ValidationError({"cursor": BAD})
    for part, kind in zip(parts, kinds, strict=True):
        fits = isinstance(part, kind) and not isinstance(part, bool)
        if not fits or (isinstance(part, int) and not 0 <= part < 2**63):
            raise ValidationError({"cursor": BAD})
    return parts


def _write(row: tuple[int, Any], order: Order) -> str:
    pk, value = row
    return cursor_write(order.name, value.isoformat() if isinstance(value, datetime) else value, pk)


def _read(text: str, order: Order) -> tuple[Any, int]:
    kinds: tuple[type, ...] = (str, type(None)) if order.moment else (int, float, type(None))
    name, value, pk = cursor_read(text, str, kinds, int)
    if name != order.name:
        raise ValidationError({"cursor": BAD})
    if order.moment and value is not None:
        try:
            value = parse_datetime(value)
        except ValueError:
            value = None
        if value is None or value.tzinfo is None:
            raise ValidationError({"cursor": BAD})
    return value, pk
