"""A worker says that it takes messages, from within the loop that takes them."""

from typing import Any

from celery import bootsteps

from benchmark.alive import ALIVE_S, consuming_say


class Consuming(bootsteps.StartStopStep):
    """Begins when the consumer of jobs has, and is stopped with it whenever the broker is lost."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def __init__(self, parent: Any, **given: Any) -> None:
        self._again: Any = None
        super().__init__(parent, **given)

    def start(self, parent: Any) -> None:
        consuming_say()
        self._again = parent.timer.call_repeatedly(ALIVE_S, consuming_say)

    def stop(self, parent: Any) -> None:
        if self._again is not None:
            self._again.cancel()
            self._again = None
