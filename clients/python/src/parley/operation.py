"""Defines an operation once for both clients.

An operation is a function from arguments to a `Call`. On a `Client` it becomes a method that returns the result, on an
`AsyncClient` one that returns an awaitable; type checkers see the operation's arguments on both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from .drivers import AsyncDriver, SyncDriver
from .pages import AsyncPages, Page, Pages

if TYPE_CHECKING:
    from .calls import Call
    from .replies import Reply

P = ParamSpec("P")
T = TypeVar("T")


class SyncMethod(Generic[P, T]):
    """An operation of a `Client`. Calling it returns the result; `reply` also returns the headers."""

    def __init__(self, driver: SyncDriver, describe: Callable[P, Call[T]]) -> None:
        self._driver = driver
        self._describe = describe
        functools.update_wrapper(self, describe)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns the result."""
        return self.reply(*args, **kwargs).data

    def reply(self, *args: P.args, **kwargs: P.kwargs) -> Reply[T]:
        """Returns the result with status and headers, such as the `etag` for a later `if_match`."""
        return self._driver.send(self._describe(*args, **kwargs))


class AsyncMethod(Generic[P, T]):
    """An operation of an `AsyncClient`. Awaiting it returns the result; `reply` also returns the headers."""

    def __init__(self, driver: AsyncDriver, describe: Callable[P, Call[T]]) -> None:
        self._driver = driver
        self._describe = describe
        functools.update_wrapper(self, describe)

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Returns the result."""
        return (await self.reply(*args, **kwargs)).data

    async def reply(self, *args: P.args, **kwargs: P.kwargs) -> Reply[T]:
        """Returns the result with status and headers, such as the `etag` for a later `if_match`."""
        return await self._driver.send(self._describe(*args, **kwargs))


class Operation(Generic[P, T]):
    """Decorates a function that describes a call."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[T]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[Concatenate[Any, P], Call[T]]: ...
    @overload
    def __get__(self, instance: SyncDriver, owner: type) -> SyncMethod[P, T]: ...
    @overload
    def __get__(self, instance: AsyncDriver, owner: type) -> AsyncMethod[P, T]: ...
    def __get__(self, instance: SyncDriver | AsyncDriver | None, owner: type) -> Any:
        """Returns the bound method of a client or, on the class, the function itself (for `help`)."""
        if instance is None:
            return self._describe
        describe: Callable[P, Call[T]] = MethodType(self._describe, instance)
        return SyncMethod(instance, describe) if isinstance(instance, SyncDriver) else AsyncMethod(instance, describe)


class Listing(Generic[P, T]):
    """Decorates a function that describes the call for a page of a list."""

    def __init__(self, describe: Callable[Concatenate[Any, P], Call[Page[T]]]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[Concatenate[Any, P], Call[Page[T]]]: ...
    @overload
    def __get__(self, instance: SyncDriver, owner: type) -> Callable[P, Pages[T]]: ...
    @overload
    def __get__(self, instance: AsyncDriver, owner: type) -> Callable[P, AsyncPages[T]]: ...
    def __get__(self, instance: SyncDriver | AsyncDriver | None, owner: type) -> Any:
        """Returns the bound method of a client or, on the class, the function itself (for `help`)."""
        if instance is None:
            return self._describe

        describe: Callable[P, Call[Page[T]]] = MethodType(self._describe, instance)

        @functools.wraps(describe)
        def list_pages(*args: P.args, **kwargs: P.kwargs) -> Pages[T] | AsyncPages[T]:
            call = describe(*args, **kwargs)
            return Pages(instance, call) if isinstance(instance, SyncDriver) else AsyncPages(instance, call)

        return list_pages
