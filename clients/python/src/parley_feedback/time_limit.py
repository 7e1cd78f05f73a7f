"""A time limit for blocking work."""

from collections.abc import Callable
from contextvars import copy_context
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def run_within(limit_s: float, work: Callable[[], T]) -> T:
    """Returns the result of work, which runs in a thread of its own.

    Sockets limit only each single wait, so a server that sends a byte now and then could hold a caller for ever. Work
    that is too late ends on its own; its result is dropped.

    Raises:
        TimeoutError: After `limit_s` seconds.
    """
    outcomes: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((work(), None))
        except BaseException as error:
            outcomes.put((None, error))

    Thread(target=copy_context().run, args=(run,), name="parley-call", daemon=True).start()
    try:
        result, error = outcomes.get(timeout=limit_s)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # without an error there is a result
