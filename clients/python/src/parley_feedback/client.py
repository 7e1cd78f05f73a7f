"""Clients for a backend."""

from __future__ import annotations

import random as chance
import time
from copy import copy
from typing import TYPE_CHECKING, Any

import anyio
import httpx
from anyio.lowlevel import current_token

from .base_url import check_base_url
from .connections import Connections
from .drivers import AsyncDriver, D, SyncDriver, with_changes
from .exchange import Settings, check_api_key
from .operations import Resources
from .retry import REQUEST_POLICY, RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from typing_extensions import Self

    from .attempts import Attempt

TIMEOUT_S = 60.0
"""Default time limit in seconds of a call, with its retries and delays."""

ATTEMPT_TIMEOUT_S = 30.0
"""Default time limit in seconds of each attempt of a call."""


def _trusts_environment(base_url: str) -> bool:
    """Whether to use proxies from the environment: only with TLS, since otherwise a proxy could read the key."""
    return base_url.startswith("https:")


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


class _BaseClient(Resources[D]):
    """A synchronous or asynchronous client."""

    def with_options(
        self,
        *,
        retry: RetryPolicy | None = None,
        timeout_s: float | None = None,
        attempt_timeout_s: float | None = None,
        on_attempt: Callable[[Attempt], object] | None = None,
    ) -> Self:
        """Returns a client with other options, for single calls. It shares the connections; close only the original."""
        changes = _given(retry=retry, timeout_s=timeout_s, attempt_timeout_s=attempt_timeout_s, on_attempt=on_attempt)
        other = copy(self)
        other._bind(with_changes(self._driver, changes))
        return other


class Client(_BaseClient[SyncDriver]):
    """Synchronous client for a tenant's backend. Close it, or use it in a `with` statement.

    Args:
        base_url: Base URL of Parley: `https://…`, or `http://localhost` in development.
        api_key: Bearer value of a server key, `sk_…`. Use it on servers only.
        allow_http: Also accept `http://` for other hosts, such as a Service inside a cluster. The key is then readable
            for everyone in that network.
        retry: Retry policy of failed calls.
        timeout_s: Time limit of a call in seconds, with its retries and delays; at most a day.
        attempt_timeout_s: Time limit of each attempt in seconds, from connecting to the last byte.
        on_attempt: Called after each attempt, for logs and metrics. It should return quickly, and its errors reach
            the caller.
        transport: HTTP transport, for tests or the settings of `httpx.HTTPTransport` (certificates, proxies).
            Processes that are forked share its connections, so create the client after the fork. Without a transport,
            each process opens its own.
        now: Seconds since 1970.
        random: Random numbers, 0 ≤ x < 1.
        sleep: Sleeps for a number of seconds.

    Raises:
        ParleyError: `insecure-url`, `invalid-argument`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        allow_http: bool = False,
        retry: RetryPolicy = REQUEST_POLICY,
        timeout_s: float = TIMEOUT_S,
        attempt_timeout_s: float = ATTEMPT_TIMEOUT_S,
        on_attempt: Callable[[Attempt], object] | None = None,
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], float] = time.time,
        random: Callable[[], float] = chance.random,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        key, base = check_api_key(api_key), check_base_url(base_url, allow_http=allow_http)
        settings = Settings(base, key, retry, timeout_s, attempt_timeout_s, on_attempt, now, random)
        trusts = _trusts_environment(base)
        connections = Connections(lambda: httpx.Client(transport=transport, trust_env=trusts))
        super().__init__(SyncDriver(settings, connections, sleep))

    def close(self) -> None:
        """Closes the connections. Later calls fail."""
        self._driver.connections.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(_BaseClient[AsyncDriver]):
    """Asynchronous client for a tenant's backend, for asyncio and trio. Close it, or use it in an `async with`.

    Same operations and arguments as `Client`, as awaitables; lists are asynchronous iterators. Cancelling a task ends
    its call and closes the connection. In another event loop, such as that of the next `asyncio.run`, it opens
    connections of its own, except with a `transport`.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        allow_http: bool = False,
        retry: RetryPolicy = REQUEST_POLICY,
        timeout_s: float = TIMEOUT_S,
        attempt_timeout_s: float = ATTEMPT_TIMEOUT_S,
        on_attempt: Callable[[Attempt], object] | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.time,
        random: Callable[[], float] = chance.random,
        sleep: Callable[[float], Awaitable[object]] = anyio.sleep,
    ) -> None:
        key, base = check_api_key(api_key), check_base_url(base_url, allow_http=allow_http)
        settings = Settings(base, key, retry, timeout_s, attempt_timeout_s, on_attempt, now, random)
        trusts = _trusts_environment(base)
        connections = Connections(lambda: httpx.AsyncClient(transport=transport, trust_env=trusts))
        super().__init__(AsyncDriver(settings, connections, sleep))

    async def close(self) -> None:
        """Closes the connections. Later calls fail."""
        await self._driver.connections.in_loop(current_token()).aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
