"""Executes calls: synchronously or asynchronously."""

from __future__ import annotations

import random as chance
import time
from itertools import count
from typing import TYPE_CHECKING, TypeVar

import anyio
import httpx

from .exchange import Outcome, judge, open_settings, outgoing
from .replies import Reply
from .retry import REQUEST_POLICY, RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from typing_extensions import Self

    from .calls import Call

T = TypeVar("T")

TIMEOUT_S = 30.0
"""Timeout in seconds for connecting and for each read of an attempt."""


def _trusts_environment(base_url: str) -> bool:
    """Whether to use proxies from the environment: not for localhost, where a proxy could read the key."""
    return base_url.startswith("https:")


class SyncDriver:
    """Sends calls synchronously. Thread-safe."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retry: RetryPolicy = REQUEST_POLICY,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], float] = time.time,
        random: Callable[[], float] = chance.random,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._settings = open_settings(base_url, api_key, retry, now, random)
        self._sleep = sleep
        trusts = _trusts_environment(self._settings.base_url)
        self._http = httpx.Client(transport=transport, timeout=timeout_s, trust_env=trusts)

    def send(self, call: Call[T]) -> Reply[T]:
        """Sends a call with retries.

        Raises:
            ParleyError: After the last attempt has failed.
        """
        request = outgoing(self._settings, call)
        for retry in count(1):
            verdict = judge(self._settings, call, self._attempt(request), retry)
            if isinstance(verdict, Reply):
                return verdict
            self._sleep(verdict.delay_s)
        raise AssertionError("unreachable")

    def _attempt(self, request: httpx.Request) -> Outcome:
        try:
            return self._http.send(request)
        except httpx.RequestError as error:
            return error

    def close(self) -> None:
        """Closes the connections. Later calls fail."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncDriver:
    """Sends calls asynchronously, under asyncio or trio."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        retry: RetryPolicy = REQUEST_POLICY,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.time,
        random: Callable[[], float] = chance.random,
        sleep: Callable[[float], Awaitable[object]] = anyio.sleep,
    ) -> None:
        self._settings = open_settings(base_url, api_key, retry, now, random)
        self._sleep = sleep
        trusts = _trusts_environment(self._settings.base_url)
        self._http = httpx.AsyncClient(transport=transport, timeout=timeout_s, trust_env=trusts)

    async def send(self, call: Call[T]) -> Reply[T]:
        """Sends a call with retries.

        Raises:
            ParleyError: After the last attempt has failed.
        """
        request = outgoing(self._settings, call)
        for retry in count(1):
            verdict = judge(self._settings, call, await self._attempt(request), retry)
            if isinstance(verdict, Reply):
                return verdict
            await self._sleep(verdict.delay_s)
        raise AssertionError("unreachable")

    async def _attempt(self, request: httpx.Request) -> Outcome:
        try:
            return await self._http.send(request)
        except httpx.RequestError as error:
            return error

    async def close(self) -> None:
        """Closes the connections. Later calls fail."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
