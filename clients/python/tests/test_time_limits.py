"""Time limits against a real server that misbehaves."""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from either import KINDS, Either, Kind

from parley_feedback import AsyncClient, Client, InvalidArgument, ParleyError, RetryPolicy

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"


def drip(connection: socket.socket, data: bytes) -> None:
    """Sends a byte every 50 ms, until the client has gone."""
    for byte in data * 10:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def hang(connection: socket.socket) -> None:
    connection.recv(1)


def drip_the_head(connection: socket.socket) -> None:
    drip(connection, b"HTTP/1.1 200 OK\r\nX-Padding: " + b"x" * 1000)


def drip_the_body(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    drip(connection, b" " * 1000)


Misbehaviour = Callable[[socket.socket], None]


@pytest.fixture
def serve() -> Iterator[Callable[[Misbehaviour], tuple[str, list[float]]]]:
    """Starts a server; returns its URL and the times of its connections."""
    listeners: list[socket.socket] = []

    def start(misbehave: Misbehaviour) -> tuple[str, list[float]]:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        times: list[float] = []

        def handle(connection: socket.socket) -> None:
            with connection:
                connection.recv(65536)
                try:
                    misbehave(connection)
                except OSError:
                    return  # the client has gone

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return  # the test has ended
                times.append(time.monotonic())
                threading.Thread(target=handle, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}", times

    yield start
    for listener in listeners:
        listener.close()


def connect(kind: Kind, url: str, **options: Any) -> Either:
    return Either(Client(url, "sk_test", **options) if kind == "sync" else AsyncClient(url, "sk_test", **options))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("misbehave", [hang, drip_the_head, drip_the_body])
def test_a_call_ends_at_its_time_limit(serve: Any, misbehave: Misbehaviour, kind: Kind) -> None:
    url, times = serve(misbehave)
    caller = connect(kind, url, timeout_s=0.5)
    began = time.monotonic()
    with pytest.raises(ParleyError) as caught:
        caller.call("readIngestion")
    took_s = time.monotonic() - began
    assert (caught.value.kind, caught.value.retryable) == ("no-reply", True)
    assert "the request may have taken effect" in str(caught.value)
    assert 0.4 < took_s < 2
    assert len(times) == 1
    caller.close()


@pytest.mark.parametrize("kind", KINDS)
def test_an_attempt_that_is_too_long_is_retried_within_the_limit_of_the_call(serve: Any, kind: Kind) -> None:
    url, times = serve(drip_the_body)
    caller = connect(kind, url, timeout_s=10, attempt_timeout_s=0.3, retry=RetryPolicy(retries=2, base_ms=10))
    with pytest.raises(ParleyError):
        caller.call("readIngestion")
    assert len(times) == 3
    caller.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_delay_beyond_the_limit_of_the_call_ends_it(serve: Any, kind: Kind) -> None:
    url, times = serve(
        lambda connection: connection.sendall(b"HTTP/1.1 503 Busy\r\nRetry-After: 20\r\nContent-Length: 0\r\n\r\n")
    )
    caller = connect(kind, url, timeout_s=5)
    began = time.monotonic()
    with pytest.raises(ParleyError) as caught:
        caller.call("readIngestion")
    assert (caught.value.kind, caught.value.retry_after_ms) == ("unavailable", 20_000)
    assert time.monotonic() - began < 3
    assert len(times) == 1
    caller.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["timeout_s", "attempt_timeout_s"])
@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan"), 86_401])
def test_a_time_limit_that_is_none_is_refused(name: str, value: float, kind: Kind) -> None:
    with pytest.raises(InvalidArgument, match=name):
        connect(kind, "http://localhost", **{name: value})
    caller = connect(kind, "http://localhost")
    with pytest.raises(InvalidArgument, match=name):
        caller.client.with_options(**{name: value})  # type: ignore[arg-type]
    caller.close()


def test_a_cancelled_task_ends_its_call(serve: Any) -> None:
    url, _ = serve(hang)

    async def main() -> float:
        async with AsyncClient(url, "sk_test") as client:
            began = time.monotonic()
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.ingestion.read(), 0.2)
            return time.monotonic() - began

    assert asyncio.run(main()) < 2
