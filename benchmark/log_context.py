"""What a log line is about: set where a piece of work begins, read by the log's formatter (config/logs.py)."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_about: ContextVar[Mapping[str, str | int]] = ContextVar("log_about", default=MappingProxyType({}))


@contextmanager
def log_about(**fields: str | int) -> Iterator[None]:
    """Lines logged by the body, in this thread or task, carry `fields`, such as `run="20261129-0214-3f9a1c"`."""
    token = _about.set({**_about.get(), **fields})
    try:
        yield
    finally:
        _about.reset(token)


def log_fields() -> Mapping[str, str | int]:
    return _about.get()
