"""What a sweep does to each row it finds, so that one bad row keeps none of the others waiting."""

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from django.db import InterfaceError, OperationalError

log = logging.getLogger(__name__)
Row = TypeVar("Row")


def sweep(rows: Iterable[Row], mend: Callable[[Row], object]) -> None:
    """`mend` each of `rows`. What one raises is logged and the next has its turn; a lost database ends the sweep."""
    for row in rows:
        try:
            mend(row)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            log.exception("A sweep could not mend %r; it is tried again at the next.", row)
