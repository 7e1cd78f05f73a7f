"""Forked processes, as those of Gunicorn and Celery, with a client that was made before the fork."""

import asyncio
import os
from collections.abc import Callable

import pytest

from parley_feedback import AsyncClient, Client

ROUNDS = 100

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),  # Python 3.12 warns of threads: here the server's
]


def wrong_in_children(wrong: Callable[[int], int]) -> int:
    """Returns how many of three forked processes read a response that was not theirs, or failed."""
    children: list[int] = []
    for number in range(3):
        child = os.fork()
        if child == 0:
            failed = 1
            try:
                failed = 1 if wrong(number) else 0
            finally:
                os._exit(failed)
        children.append(child)
    return sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


def test_forked_processes_do_not_read_the_responses_of_others(url: str) -> None:
    with Client(url, "sk_test") as client:
        other = client.with_options(timeout_s=20)
        client.questions.read("before")

        def wrong(number: int) -> int:
            ids = [f"{number}-{each}" for each in range(ROUNDS)]
            return sum(each.questions.read(name)["id"] != name for name in ids for each in (client, other))

        assert wrong_in_children(wrong) == 0
        assert client.questions.read("after")["id"] == "after"


def test_forked_processes_do_not_read_the_responses_of_others_asynchronously(url: str) -> None:
    async def read(client: AsyncClient, ids: list[str]) -> int:
        return sum([(await client.questions.read(each))["id"] != each for each in ids])

    async def fork() -> None:
        async with AsyncClient(url, "sk_test") as client:
            await read(client, ["before"])

            def wrong(number: int) -> int:
                return asyncio.run(read(client, [f"{number}-{each}" for each in range(ROUNDS)]))

            assert wrong_in_children(wrong) == 0
            assert await read(client, ["after"]) == 0

    asyncio.run(fork())


def test_a_closed_client_stays_closed_in_a_forked_process(url: str) -> None:
    client = Client(url, "sk_test")
    client.close()
    assert wrong_in_children(lambda _: not client._driver.connections.http.is_closed) == 0
