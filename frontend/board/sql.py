"""What the board's query needs of SQL beyond Django's own, for both databases."""

import json
from typing import Any

from django.db import models
from django.db.models import Aggregate, Func, Lookup


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


class Among(Lookup):
    """`Among(F("pk"), ids)`: one parameter for all ids. `pk__in` has one for each, which costs more than the query."""

    lookup_name = "among"
    prepare_rhs = False

    def get_db_prep_lookup(self, value: Any, connection: Any) -> Any:
        return "%s", [list(value) if connection.vendor == "postgresql" else json.dumps(list(value))]

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        left, left_params = self.process_lhs(compiler, connection)
        right, right_params = self.process_rhs(compiler, connection)
        among = "= ANY(%s)" if connection.vendor == "postgresql" else "IN (SELECT value FROM json_each(%s))"
        return f"{left} {among % right}", (*left_params, *right_params)
