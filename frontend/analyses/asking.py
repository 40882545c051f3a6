"""From an address to what an analysis is asked, and back."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import HttpRequest

from benchmark.models import Origin
from frontend.analyses.contract import Asked, Kind
from frontend.bad_query import BadQuery
from frontend.board import Filters

FORM = ("task", "level", "agent", "driver", "mode", "base", "origin", "budget", "protocol")
"""Filters that the page's form offers; the others can be written into the address."""


def asked_of(request: HttpRequest, kind: Kind) -> Asked:
    """Without an origin: runs made here. Raises: BadQuery."""
    filters = Filters.read(request.GET, tuple(kind.choices))
    choices = {}
    for name, values in kind.choices.items():
        told = request.GET.get(name, "") or (values[0] if values else "")
        if values and told not in values:
            raise BadQuery(name, f"“{told[:60]}” is none of {', '.join(values)}.")
        if len(told) > 64 or not told.isprintable():
            raise BadQuery(name, "holds at most 64 printable characters.")
        choices[name] = told
    if Origin.PUBLISHED in filters.origin and len(filters.origin) > 1:
        raise BadQuery("origin", "A paper’s numbers rest on its own protocol and stand alone: ask for published only.")
    return Asked(replace(filters, origin=filters.origin or (Origin.LOCAL.value,)), choices, request.user)


@dataclass(frozen=True)
class Choice:
    """One of an analysis's own parameters, as links."""

    title: str
    values: list[tuple[str, str, bool]]
    """`(value, query, chosen)`."""


def query_of(asked: Asked, kind: Kind, /, **changes: str) -> str:
    """The address's query, defaults left out."""
    told: dict[str, tuple[str, ...]] = {
        name: value
        for name, value in asked.filters.chosen.items()
        if (name, value) != ("origin", (Origin.LOCAL.value,))
    }
    for name, values in kind.choices.items():
        value = changes.get(name, asked.choices[name])
        if value and value != (values[0] if values else ""):
            told[name] = (value,)
    return f"?{urlencode(told, doseq=True)}" if told else ""


def choices_of(asked: Asked, kind: Kind) -> list[Choice]:
    return [
        Choice(
            kind.choice_titles.get(name, name.capitalize()),
            [(value, query_of(asked, kind, **{name: value}) or "?", value == asked.choices[name]) for value in values],
        )
        for name, values in kind.choices.items()
        if values
    ]


def filter_text(asked: Asked) -> str:
    """`origin=local, task=gsm8k`: what was used."""
    return ", ".join(f"{name}={'|'.join(values)}" for name, values in asked.filters.narrowing.items())
