"""Event loops that follow one another, as those of tasks of Celery and of synchronous views, with one client."""

import asyncio
import gc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import trio

from parley_feedback import AsyncClient, RetryPolicy

NAMES = ["a", "b", "c"]

# The connections of a loop that has ended are dropped with it, without being closed.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def dropped() -> Iterator[None]:
    """Drops them before the next test."""
    yield
    gc.collect()


async def read(client: AsyncClient, names: list[str]) -> list[object]:
    return [(await client.questions.read(name))["id"] for name in names]


def test_each_event_loop_has_connections_of_its_own(url: str) -> None:
    client = AsyncClient(url, "sk_test", retry=RetryPolicy(retries=0))
    for _ in range(3):
        assert asyncio.run(read(client, NAMES)) == NAMES
        assert trio.run(read, client.with_options(timeout_s=20), NAMES) == NAMES
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: asyncio.run(read(client, NAMES)), range(40))) == [NAMES] * 40


def test_a_client_can_be_closed_in_another_event_loop_and_stays_closed(url: str) -> None:
    client = AsyncClient(url, "sk_test")
    asyncio.run(read(client, NAMES))
    asyncio.run(client.close())
    with pytest.raises(RuntimeError, match="closed"):
        asyncio.run(read(client, NAMES))
