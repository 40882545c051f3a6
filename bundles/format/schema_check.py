"""Whether a value is as a JSON Schema has it: the keywords that the manifest's schema uses, and no others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
MOST = 20

Fault = tuple[str, str]
"""Where (`submissions[2].score`), and what is wrong there."""


def schema_faults(value: Any, schema: dict[str, Any]) -> list[Fault]:
    """The first `MOST` things that are not as `schema` has them. NaN and infinities are faults."""
    found: list[Fault] = []
    for fault in _faults(value, schema, ""):
        found.append(fault)
        if len(found) >= MOST:
            break
    return found


def _faults(value: Any, schema: dict[str, Any], at: str) -> Iterator[Fault]:
    kinds = schema.get("type")
    allowed = [kinds] if isinstance(kinds, str) else list(kinds or ())
    if allowed and not any(_is(value, kind) for kind in allowed):
        yield at or "the manifest", f"it is {_kind(value)}, expected {' or '.join(allowed)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield at, f"it is {value!r:.60}, expected one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str):
        yield from _of_text(value, schema, at)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _of_number(value, schema, at)
    elif isinstance(value, list):
        yield from _of_list(value, schema, at)
    elif isinstance(value, dict):
        yield from _of_object(value, schema, at)


def _is(value: Any, kind: str) -> bool:
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return True
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    return next((kind for kind, types in TYPES.items() if isinstance(value, types)), "something else")


def _of_text(value: str, schema: dict[str, Any], at: str) -> Iterator[Fault]:
    if len(value) > schema.get("maxLength", math.inf):
        yield at, f"it is longer than {schema['maxLength']} characters"
    elif len(value) < schema.get("minLength", 0):
        yield at, "it is empty"
    elif "pattern" in schema and not re.search(schema["pattern"], value):
        yield at, f"{value!r:.60} is not of the form {schema['pattern']}"


def _of_number(value: float, schema: dict[str, Any], at: str) -> Iterator[Fault]:
    if not math.isfinite(value):
        yield at, f"it is {value}, which is no number"
    elif value < schema.get("minimum", -math.inf):
        yield at, f"it is {value}, at least {schema['minimum']} is expected"
    elif value > schema.get("maximum", math.inf):
        yield at, f"it is {value}, at most {schema['maximum']} is expected"


def _of_list(value: list[Any], schema: dict[str, Any], at: str) -> Iterator[Fault]:
    if len(value) > schema.get("maxItems", math.inf):
        yield at, f"it has {len(value)} entries, at most {schema['maxItems']} are read"
        return
    for index, item in enumerate(value):
        yield from _faults(item, schema.get("items", {}), f"{at}[{index}]")


def _of_object(value: dict[str, Any], schema: dict[str, Any], at: str) -> Iterator[Fault]:
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    if len(value) > schema.get("maxProperties", math.inf):
        yield at, f"it has {len(value)} members, at most {schema['maxProperties']} are read"
        return
    for name in schema.get("required", ()):
        if name not in value:
            yield at or "the manifest", f"{name} is missing"
    for name, item in value.items():
        place = f"{at}.{name[:60]}" if at else name[:60]
        if name in properties:
            yield from _faults(item, properties[name], place)
        elif others is False:
            yield place, "no such member is known"
        elif isinstance(others, dict):
            yield from _faults(item, others, place)
