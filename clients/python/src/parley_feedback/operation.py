"""Defines an operation once for both clients.

An operation is a method of a resource that describes a `Call`. On a `Client` it returns the result, on an
`AsyncClient` an awaitable; type checkers see its arguments on both.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from .drivers import AsyncDriver, SyncDriver
from .pages import AsyncPages, Page, Pages

if TYPE_CHECKING:
    from .calls import Call
    from .replies import Reply

P = ParamSpec("P")
T = TypeVar("T")
D_co = TypeVar("D_co", bound=SyncDriver | AsyncDriver, covariant=True)


class Resource(Generic[D_co]):
    """The operations of one kind of object, bound to a client."""

    def __init__(self, driver: D_co) -> None:
        self._driver = driver


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
    """A method that sends one call. `operation_id` is its name in the OpenAPI document."""

    def __init__(self, operation_id: str, describe: Callable[Concatenate[Any, P], Call[T]]) -> None:
        self.operation_id = operation_id
        self._describe = _named(operation_id, describe)
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[Concatenate[Any, P], Call[T]]: ...
    @overload
    def __get__(self, instance: Resource[SyncDriver], owner: type) -> SyncMethod[P, T]: ...
    @overload
    def __get__(self, instance: Resource[AsyncDriver], owner: type) -> AsyncMethod[P, T]: ...
    def __get__(self, instance: Resource[Any] | None, owner: type) -> Any:
        """Returns the bound method of a resource or, on the class, the function itself (for `help`)."""
        if instance is None:
            return self._describe
        driver: SyncDriver | AsyncDriver = instance._driver  # pyright: ignore[reportPrivateUsage]  a resource and its methods are one
        describe: Callable[P, Call[T]] = MethodType(self._describe, instance)
        return SyncMethod(driver, describe) if isinstance(driver, SyncDriver) else AsyncMethod(driver, describe)


class Listing(Generic[P, T]):
    """A method that lists objects page by page. `operation_id` is its name in the OpenAPI document."""

    def __init__(self, operation_id: str, describe: Callable[Concatenate[Any, P], Call[Page[T]]]) -> None:
        self.operation_id = operation_id
        self._describe = _named(operation_id, describe)
        self.__doc__ = describe.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Callable[Concatenate[Any, P], Call[Page[T]]]: ...
    @overload
    def __get__(self, instance: Resource[SyncDriver], owner: type) -> Callable[P, Pages[T]]: ...
    @overload
    def __get__(self, instance: Resource[AsyncDriver], owner: type) -> Callable[P, AsyncPages[T]]: ...
    def __get__(self, instance: Resource[Any] | None, owner: type) -> Any:
        """Returns the bound method of a resource or, on the class, the function itself (for `help`)."""
        if instance is None:
            return self._describe
        driver: SyncDriver | AsyncDriver = instance._driver  # pyright: ignore[reportPrivateUsage]  a resource and its methods are one
        describe: Callable[P, Call[Page[T]]] = MethodType(self._describe, instance)

        @functools.wraps(describe)
        def list_pages(*args: P.args, **kwargs: P.kwargs) -> Pages[T] | AsyncPages[T]:
            call = describe(*args, **kwargs)
            return Pages(driver, call) if isinstance(driver, SyncDriver) else AsyncPages(driver, call)

        return list_pages


def operation(operation_id: str) -> Callable[[Callable[Concatenate[Any, P], Call[T]]], Operation[P, T]]:
    """Decorates a method that describes a call."""
    return lambda describe: Operation(operation_id, describe)


def listing(operation_id: str) -> Callable[[Callable[Concatenate[Any, P], Call[Page[T]]]], Listing[P, T]]:
    """Decorates a method that describes the call for a page of a list."""
    return lambda describe: Listing(operation_id, describe)


def _named(
    operation_id: str, describe: Callable[Concatenate[Any, P], Call[T]]
) -> Callable[Concatenate[Any, P], Call[T]]:
    """Adds the operation's name to the calls."""

    @functools.wraps(describe)
    def named(resource: Any, /, *args: P.args, **kwargs: P.kwargs) -> Call[T]:
        return replace(describe(resource, *args, **kwargs), operation=operation_id)

    return named
