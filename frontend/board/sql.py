"""What the board's query needs of SQL beyond Django's own, for both databases."""

import json
from typing import Any

from django.db import models
from django.db.models import Aggregate, Func


class Floats(Aggregate):
    """All values of a group as a list of floats, None among them."""

    output_field: Any = models.Field()

    def as_postgresql(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        return self.as_sql(compiler, connection, function="array_agg", **extra_context)

    def as_sqlite(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        return self.as_sql(compiler, connection, function="json_group_array", **extra_context)

    def convert_value(self, value: Any, expression: Any, connection: Any) -> list[float | None]:
        """SQLite answers with JSON, in which some of its versions write infinity in their own way."""
        return json.loads(value.replace("Inf", "Infinity")) if isinstance(value, str) else (value or [])


class Together(Func):
    """One short value for several columns, to group by: sorting many texts takes PostgreSQL four times as long.

    There it is 64 bits of a hash; two of a board's thousand groups share one with a chance below 1e-12.
    """

    output_field: Any = models.Field()

    def as_postgresql(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        template = "hashtextextended(concat_ws(chr(31), %(expressions)s), 0)"
        return self.as_sql(compiler, connection, template=template, **extra_context)

    def as_sqlite(self, compiler: Any, connection: Any, **extra_context: Any) -> Any:
        joint = " || char(31) || "
        return self.as_sql(compiler, connection, template="%(expressions)s", arg_joiner=joint, **extra_context)
