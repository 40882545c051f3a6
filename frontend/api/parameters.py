"""Query parameters of the API: one declaration checks what is given and describes it in the schema."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from django.http import QueryDict
from django.utils.dateparse import parse_date, parse_datetime
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import ValidationError

Kind = Literal["text", "slug", "integer", "number", "moment", "flag"]
SLUG = re.compile(r"[-A-Za-z0-9_]{1,64}")
WHOLE = re.compile(r"[0-9]{1,18}")
FLAGS = {"1": True, "true": True, "0": False, "false": False}
PARAMETERS_MOST, VALUES_MOST, TEXT_MOST = 60, 20, 300
KIND_TYPES: Mapping[Kind, Any] = {
    "text": str,
    "slug": str,
    "integer": int,
    "number": float,
    "moment": datetime,
    "flag": bool,
}


@dataclass(frozen=True)
class Parameter:
    """One query parameter. `many`: it may be given several times, and any of the values fits."""

    name: str
    help: str
    kind: Kind = "text"
    choices: tuple[str, ...] = ()
    many: bool = False
    low: int = 0
    high: int = 10**15
    default: Any = None
    required: bool = False

    def read(self, text: str) -> Any:
        """Raises: ValueError: the message says what would be right."""
        if "\x00" in text or not text.isprintable():
            raise ValueError("It holds characters that cannot be printed.")
        if len(text) > TEXT_MOST:
            raise ValueError(f"At most {TEXT_MOST} characters.")
        if self.choices:
            if text not in self.choices:
                raise ValueError(f"Give one of {', '.join(each or '(empty)' for each in self.choices)}.")
            return text
        return _READERS[self.kind](self, text)

    def openapi(self) -> OpenApiParameter:
        told = f" From {self.low} to {self.high}." if self.kind == "integer" else ""
        return OpenApiParameter(
            self.name,
            {"type": "array", "items": _schema(self), "maxItems": VALUES_MOST} if self.many else _schema(self),
            required=self.required,
            explode=True if self.many else None,
            description=self.help + told + (" May be given several times." if self.many else ""),
        )


def _schema(parameter: Parameter) -> dict[str, Any]:
    names = {int: "integer", float: "number", bool: "boolean"}
    told: dict[str, Any] = {"type": names.get(KIND_TYPES[parameter.kind], "string")}
    if parameter.choices:
        told["enum"] = list(parameter.choices)
    elif parameter.kind == "integer":
        told |= {"minimum": parameter.low, "maximum": parameter.high}
    elif parameter.kind == "moment":
        told["format"] = "date-time"
    elif parameter.kind == "slug":
        told["pattern"] = f"^{SLUG.pattern}$"
    else:
        told |= {"maxLength": TEXT_MOST} if parameter.kind == "text" else {}
    if parameter.default is not None:
        told["default"] = parameter.default
    return told


def _integer(parameter: Parameter, text: str) -> int:
    if not WHOLE.fullmatch(text) or not parameter.low <= int(text) <= parameter.high:
        raise ValueError(f"Give a whole number from {parameter.low} to {parameter.high}.")
    return int(text)


def _number(_: Parameter, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError("Give a finite number.")
    return value


def _moment(_: Parameter, text: str) -> datetime:
    """`2026-11-30` or with a time; without a zone it is UTC. A plus that became a space is forgiven."""
    try:
        moment = parse_datetime(text.replace(" ", "+") if text.count(":") > 1 else text)
        day = None if moment else parse_date(text)
    except ValueError:
        moment = day = None
    if moment is None and day is not None:
        moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    if moment is None:
        raise ValueError("Give a time such as 2026-11-30 or 2026-11-30T12:00:00Z.")
    try:
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except OverflowError:
        raise ValueError("Give a time such as 2026-11-30 or 2026-11-30T12:00:00Z.") from None


def _flag(_: Parameter, text: str) -> bool:
    if text not in FLAGS:
        raise ValueError("Give true or false.")
    return FLAGS[text]


def _slug(_: Parameter, text: str) -> str:
    if not SLUG.fullmatch(text):
        raise ValueError("Give an id of letters, digits, '-' and '_'.")
    return text


_READERS: Mapping[Kind, Any] = {
    "text": lambda _, text: text,
    "slug": _slug,
    "integer": _integer,
    "number": _number,
    "moment": _moment,
    "flag": _flag,
}


def parameters_read(known: Iterable[Parameter], query: QueryDict) -> dict[str, Any]:
    """The given values and the defaults; lists where several may be given.

    Raises: ValidationError: by parameter, what is unknown, repeated, missing or nonsense.
    """
    table = {parameter.name: parameter for parameter in known}
    told = sum(len(values) for _, values in query.lists())
    if told > PARAMETERS_MOST:
        raise ValidationError({"query": f"At most {PARAMETERS_MOST} parameters; these are {told}."})
    problems: dict[str, str] = {}
    found = {name: each.default for name, each in table.items() if each.default is not None}
    for name, values in query.lists():
        try:
            found[name] = _values(table.get(name), [str(value) for value in values], list(table))
        except ValueError as error:
            problems[name[:80]] = str(error)
    missing = {name: "It is required." for name, each in table.items() if each.required and name not in found}
    if problems := missing | problems:
        raise ValidationError(problems)
    return found


def _values(parameter: Parameter | None, values: Sequence[str], known: Sequence[str]) -> Any:
    if parameter is None:
        told = f"known are {', '.join(known)}" if known else "there are none here"
        raise ValueError(f"There is no such parameter; {told}.")
    if len(values) > (VALUES_MOST if parameter.many else 1):
        raise ValueError(f"At most {VALUES_MOST} values." if parameter.many else "Give it once.")
    read = [parameter.read(value) for value in values]
    return read if parameter.many else read[0]
