"""Wraps both kinds of client, so that every test covers both."""

import asyncio
import atexit
from collections.abc import AsyncIterable, Callable, Coroutine, Iterable
from itertools import islice
from typing import Any, Literal, TypeVar

import httpx

from parley_feedback import AsyncClient, Client
from parley_feedback.operation import Listing, Operation, Resource
from parley_feedback.operations import Resources

Kind = Literal["sync", "async"]
KINDS: list[Kind] = ["sync", "async"]
BASE_URL = "https://feedback.example.com"
API_KEY = "sk_test"

T = TypeVar("T")

LOOP = asyncio.new_event_loop()
atexit.register(LOOP.close)


def find_operations() -> dict[str, tuple[str, str]]:
    """The resource and the method of every operation, by its name in the OpenAPI document."""
    found = {}
    for name, resource in vars(Resources(None)).items():  # type: ignore[type-var]
        if isinstance(resource, Resource):
            for method, made in vars(type(resource)).items():
                if isinstance(made, (Operation, Listing)):
                    found[made.operation_id] = (name, method)
    return found


OPERATIONS = find_operations()


def method_of(client: Client | AsyncClient, operation: str) -> Any:
    resource, method = OPERATIONS[operation]
    return getattr(getattr(client, resource), method)


class Either:
    """Provides the operations by the names of the contract; awaits those of an `AsyncClient`."""

    def __init__(self, client: Client | AsyncClient) -> None:
        self.client = client

    def _await(self, value: Coroutine[Any, Any, T]) -> T:
        return LOOP.run_until_complete(value)

    def call(self, operation: str, *args: Any, **named: Any) -> Any:
        result = method_of(self.client, operation)(*args, **named)
        return result if isinstance(self.client, Client) else self._await(result)

    def page(self, operation: str, *args: Any, **named: Any) -> Any:
        page = method_of(self.client, operation)(*args, **named).page()
        return page if isinstance(self.client, Client) else self._await(page)

    def collect(self, operation: str, *args: Any, take: int | None = None, into: list[Any], **named: Any) -> None:
        """Appends up to `take` items of a list to `into`, including those before a failure."""
        self.collect_pages(method_of(self.client, operation)(*args, **named), take, into)

    def collect_pages(self, pages: Any, take: int | None, into: list[Any]) -> None:
        if isinstance(self.client, Client):
            _take(pages, take, into)
        else:
            self._await(_take_async(pages, take, into))

    def close(self) -> None:
        if isinstance(self.client, Client):
            self.client.close()
        else:
            self._await(self.client.close())


def _take(pages: Iterable[Any], take: int | None, into: list[Any]) -> None:
    for item in islice(pages, take):
        into.append(item)


async def _take_async(pages: AsyncIterable[Any], take: int | None, into: list[Any]) -> None:
    async for item in pages:
        into.append(item)
        if len(into) == take:
            return


class Network:
    """Serves responses in order and records requests and delays."""

    def __init__(self, *replies: httpx.Response | httpx.RequestError) -> None:
        self._replies = iter(replies)
        self.sent: list[httpx.Request] = []
        self.waited_s: list[float] = []

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        reply = next(self._replies)
        if isinstance(reply, httpx.RequestError):
            raise reply
        return reply

    async def sleep(self, seconds: float) -> None:
        self.waited_s.append(seconds)


def connect(kind: Kind, network: Network, *, random: Callable[[], float] = lambda: 0.5, **options: Any) -> Either:
    """A client with a fake network and clock."""
    transport = httpx.MockTransport(network.handle)
    options = {"transport": transport, "random": random, **options}
    if kind == "sync":
        return Either(Client(BASE_URL, API_KEY, sleep=network.waited_s.append, **options))
    return Either(AsyncClient(BASE_URL, API_KEY, sleep=network.sleep, **options))
