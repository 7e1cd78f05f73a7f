"""The clients of a backend."""

from .drivers import AsyncDriver, SyncDriver
from .operations import Operations


class Client(SyncDriver, Operations):
    """Parley as a tenant's backend sees it, for code that waits. Close it, or use it in a `with`.

    Args:
        base_url: Where Parley is: `https://…`, or `http://localhost` while developing.
        api_key: The bearer value of a server key, `sk_…`. It belongs on a server alone.
        retry: How often and after how long a call is repeated that may succeed later.
        timeout_s: How long an attempt waits for the connection, and then for each piece of the reply.
        transport: The network, in tests or for what `httpx.HTTPTransport` sets (certificates, proxies).
        now: Seconds since 1970.
        random: A source of chance, 0 ≤ x < 1.
        sleep: Waits for some seconds.

    Raises:
        ParleyError: `insecure-url`, `invalid-argument`.
    """


class AsyncClient(AsyncDriver, Operations):
    """Parley as a tenant's backend sees it, for asyncio and trio. Close it, or use it in an `async with`.

    It has the operations and arguments of `Client`; each gives an awaitable, and each list an asynchronous iterator.
    """
