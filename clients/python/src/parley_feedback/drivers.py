"""Executes calls: synchronously or asynchronously."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio
import httpx
from anyio.lowlevel import current_token

from .errors import ParleyError
from .exchange import Outcome, Progress
from .replies import Received, Reply
from .time_limit import run_within

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .calls import Call
    from .connections import Connections
    from .exchange import Settings

T = TypeVar("T")


@dataclass(frozen=True)
class SyncDriver:
    """Sends calls synchronously. Thread-safe."""

    settings: Settings
    connections: Connections[httpx.Client]
    sleep: Callable[[float], object]

    def send(self, call: Call[T]) -> Reply[T]:
        """Sends a call with retries, in parts if its content is refused.

        Raises:
            ParleyError: After the last attempt has failed.
        """
        if call.parts is None:
            return self._send_whole(call)
        parts = call.parts(call)
        part = next(parts)
        while True:
            try:
                part = parts.send(self._outcome(part))
            except StopIteration as end:
                return cast("Reply[T]", end.value)

    def _outcome(self, call: Call[T]) -> Reply[T] | ParleyError:
        try:
            return self._send_whole(call)
        except ParleyError as error:
            return error

    def _send_whole(self, call: Call[T]) -> Reply[T]:
        progress = Progress(self.settings, call)
        while True:
            verdict = progress.judge(self._attempt(progress.request, progress.attempt_limit_s()))
            if isinstance(verdict, Reply):
                return verdict
            self.sleep(verdict.delay_s)

    def _attempt(self, request: httpx.Request, limit_s: float) -> Outcome:
        ends = monotonic() + limit_s
        try:
            return run_within(limit_s, lambda: self._receive(request, ends))
        except httpx.RequestError as error:
            return error
        except TimeoutError:
            return _too_late(limit_s)

    def _receive(self, request: httpx.Request, ends: float) -> Received:
        response = self.connections.http.send(request, stream=True)
        try:
            return Received(response.status_code, response.headers, b"".join(_until(ends, response.iter_bytes())))
        finally:
            response.close()


@dataclass(frozen=True)
class AsyncDriver:
    """Sends calls asynchronously, under asyncio or trio."""

    settings: Settings
    connections: Connections[httpx.AsyncClient]
    sleep: Callable[[float], Awaitable[object]]

    async def send(self, call: Call[T]) -> Reply[T]:
        """Sends a call with retries, in parts if its content is refused.

        Raises:
            ParleyError: After the last attempt has failed.
        """
        if call.parts is None:
            return await self._send_whole(call)
        parts = call.parts(call)
        part = next(parts)
        while True:
            try:
                part = parts.send(await self._outcome(part))
            except StopIteration as end:
                return cast("Reply[T]", end.value)

    async def _outcome(self, call: Call[T]) -> Reply[T] | ParleyError:
        try:
            return await self._send_whole(call)
        except ParleyError as error:
            return error

    async def _send_whole(self, call: Call[T]) -> Reply[T]:
        progress = Progress(self.settings, call)
        while True:
            verdict = progress.judge(await self._attempt(progress.request, progress.attempt_limit_s()))
            if isinstance(verdict, Reply):
                return verdict
            await self.sleep(verdict.delay_s)

    async def _attempt(self, request: httpx.Request, limit_s: float) -> Outcome:
        try:
            with anyio.fail_after(limit_s):
                response = await self.connections.in_loop(current_token()).send(request)
                return Received(response.status_code, response.headers, response.content)
        except httpx.RequestError as error:
            return error
        except TimeoutError:
            return _too_late(limit_s)


D = TypeVar("D", bound=SyncDriver | AsyncDriver)


def with_changes(driver: D, changes: dict[str, Any]) -> D:
    """Returns a driver with other settings on the same connections."""
    return replace(driver, settings=replace(driver.settings, **changes))


def _too_late(limit_s: float) -> httpx.ReadTimeout:
    return httpx.ReadTimeout(f"no complete response within {limit_s:.3g} s")


def _until(ends: float, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Ends a response that still arrives when its caller has given up."""
    for chunk in chunks:
        if monotonic() > ends:
            raise TimeoutError
        yield chunk
