"""The connections of a client, for each process its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakSet

import httpx

if TYPE_CHECKING:
    from collections.abc import Callable

H = TypeVar("H", httpx.Client, httpx.AsyncClient)


class Connections(Generic[H]):
    """The HTTP client of a driver, which forked processes replace.

    Servers such as Gunicorn and Celery fork after loading the application. Processes that share a connection read the
    responses of each other's requests.
    """

    def __init__(self, connect: Callable[[], H]) -> None:
        self._connect: Callable[[], H] = connect
        self.http: H = connect()
        _all.add(self)

    def replace(self) -> None:
        """Starts without connections, unless the client is closed. The inherited ones stay those of the parent."""
        if not self.http.is_closed:
            self.http = self._connect()


_all: WeakSet[Connections[Any]] = WeakSet()


def _replace_all() -> None:
    for connections in list(_all):
        connections.replace()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_replace_all)
