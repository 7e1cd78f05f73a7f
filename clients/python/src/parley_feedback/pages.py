"""Lists and their pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from .calls import Call
    from .drivers import AsyncDriver, SyncDriver

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list.

    Attributes:
        data: Items of the page.
        has_more: Whether another page follows, even if this one is empty.
        next_cursor: Cursor of the next page.
        last: Only of the feed: `after` of the next page.
    """

    data: list[T]
    has_more: bool
    next_cursor: str | None
    last: int | None = None


class Pages(Generic[T]):
    """A list: `for` iterates over all items and fetches pages on demand."""

    def __init__(self, driver: SyncDriver, call: Call[Page[T]]) -> None:
        self._driver = driver
        self._call = call

    def page(self) -> Page[T]:
        """Returns only the first page."""
        return self._driver.send(self._call).data

    def __iter__(self) -> Iterator[T]:
        call: Call[Page[T]] | None = self._call
        while call:
            page = self._driver.send(call).data
            yield from page.data
            call = _following(call, page)


class AsyncPages(Generic[T]):
    """A list: `async for` iterates over all items and fetches pages on demand."""

    def __init__(self, driver: AsyncDriver, call: Call[Page[T]]) -> None:
        self._driver = driver
        self._call = call

    async def page(self) -> Page[T]:
        """Returns only the first page."""
        return (await self._driver.send(self._call)).data

    async def __aiter__(self) -> AsyncIterator[T]:
        call: Call[Page[T]] | None = self._call
        while call:
            page = (await self._driver.send(call)).data
            for item in page.data:
                yield item
            call = _following(call, page)


def read_page(value: object) -> Page[Any]:
    """Parses a page. Raises an error that `replies` reports as unreadable."""
    page = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    data: list[Any] | None = page.get("data")
    if not isinstance(data, list):
        raise TypeError("not a page of a list")
    return Page(data, page.get("has_more") is True, page.get("next_cursor"), page.get("last"))


def _following(call: Call[Page[T]], page: Page[T]) -> Call[Page[T]] | None:
    if page.has_more and page.last is not None:
        return replace(call, query={**call.query, "after": page.last})
    if not page.has_more or page.next_cursor is None:
        return None
    return replace(call, query={**call.query, "cursor": page.next_cursor})
