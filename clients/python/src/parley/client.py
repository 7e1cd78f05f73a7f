"""Clients for a backend."""

from .drivers import AsyncDriver, SyncDriver
from .operations import Operations


class Client(SyncDriver, Operations):
    """Synchronous client for a tenant's backend. Close it, or use it in a `with` statement.

    Args:
        base_url: Base URL of Parley: `https://…`, or `http://localhost` in development.
        api_key: Bearer value of a server key, `sk_…`. Use it on servers only.
        retry: Retry policy of failed calls.
        timeout_s: Timeout in seconds for connecting and for each read of an attempt.
        transport: HTTP transport, for tests or the settings of `httpx.HTTPTransport` (certificates, proxies).
        now: Seconds since 1970.
        random: Random numbers, 0 ≤ x < 1.
        sleep: Sleeps for a number of seconds.

    Raises:
        ParleyError: `insecure-url`, `invalid-argument`.
    """


class AsyncClient(AsyncDriver, Operations):
    """Asynchronous client for a tenant's backend, for asyncio and trio. Close it, or use it in an `async with`.

    Same operations and arguments as `Client`, as awaitables; lists are asynchronous iterators.
    """
