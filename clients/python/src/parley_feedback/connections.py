"""The connections of a client, for each process and each event loop its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakSet

import httpx

from .errors import InvalidArgument

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
        self._used: tuple[object, H] = (None, self._open())  # the event loop of the last call, if any
        _all.add(self)

    @property
    def http(self) -> H:
        """The HTTP client."""
        return self._used[1]

    def in_loop(self, loop: object) -> H:
        """Returns the HTTP client for a call in an event loop, since connections cannot be used in another one.

        Only the last loop keeps its connections, which is enough for loops that follow one another (`asyncio.run`).
        """
        used, http = self._used
        if used != loop:
            if used is not None and not http.is_closed:
                http = self._open()
            self._used = (loop, http)
        return http

    def replace(self) -> None:
        """Starts without connections, unless the client is closed. The inherited ones stay those of the parent."""
        if not self.http.is_closed:
            self._used = (None, self._open())

    def _open(self) -> H:
        """Opens an HTTP client, which reads proxies and certificates from the environment.

        Raises:
            InvalidArgument: If they cannot be used. The errors of httpx do not name the variable.
        """
        try:
            return self._connect()
        except (ImportError, OSError, ValueError, httpx.InvalidURL) as error:
            why = "has proxies or certificates that cannot be used (HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE)"
            raise InvalidArgument("environment", f"{why}: {error}") from error


_all: WeakSet[Connections[Any]] = WeakSet()


def _replace_all() -> None:
    for connections in list(_all):
        connections.replace()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_replace_all)
