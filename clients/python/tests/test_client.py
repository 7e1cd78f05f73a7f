from collections.abc import Coroutine
from datetime import date, datetime, timedelta, timezone
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
import trio
from either import BASE_URL, KINDS, Kind, Network, connect
from typing_extensions import assert_type

import parley
from parley import AsyncClient, AsyncPages, Client, InvalidArgument, Pages, Reply, types


@pytest.mark.parametrize("api_key", ["", "secret", "key_1", "sk_", "sk_a b", "sk_a\r\nX: y", "sk_ä", None])
@pytest.mark.parametrize("make", [Client, AsyncClient])
def test_what_is_no_api_key_is_refused_and_not_shown(make: Any, api_key: Any) -> None:
    with pytest.raises(InvalidArgument, match="api_key") as caught:
        make(BASE_URL, api_key)
    assert not api_key or api_key == "sk_" or api_key not in str(caught.value)


def test_a_client_does_not_show_its_key() -> None:
    with Client(BASE_URL, "sk_precious") as client:
        assert "precious" not in repr(client)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_has_the_entity_tag_for_a_later_write(kind: Kind) -> None:
    headers = {"ETag": '"v1"', "X-Request-Id": "req-1"}
    network = Network(httpx.Response(200, json={"id": "question_1"}, headers=headers))
    caller = connect(kind, network)
    method: Any = caller.client.read_question
    reply = method.reply("question_1") if kind == "sync" else caller._await(method.reply("question_1"))
    assert (reply.data, reply.status, reply.etag, reply.request_id) == ({"id": "question_1"}, 200, '"v1"', "req-1")


def test_times_are_sent_in_utc_and_days_as_they_are() -> None:
    noon = datetime(2026, 11, 21, 12, 0, tzinfo=timezone(timedelta(hours=1)))
    page = {"data": [], "has_more": False, "next_cursor": None}
    network = Network(httpx.Response(200, json=page), httpx.Response(200, json={}))
    caller = connect("sync", network)
    caller.page("list_answers", updated_since=noon, verified=False)
    caller.call("read_results", "question_1", from_=date(2026, 11, 1))
    queries = [dict(parse_qsl(request.url.query.decode())) for request in network.sent]
    assert queries == [{"updated_since": "2026-11-21T11:00:00.000Z", "verified": "false"}, {"from": "2026-11-01"}]


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="updated_since"):
        connect("sync", Network()).page("list_answers", updated_since=datetime(2026, 11, 21))


def test_a_client_closes_its_connections_at_the_end_of_a_with() -> None:
    with Client(BASE_URL, "sk_test") as client:
        pass
    assert client._http.is_closed


def test_an_async_client_works_under_trio() -> None:
    network = Network(httpx.Response(503), httpx.Response(200, json={"queued": 0}))

    async def main() -> None:
        transport = httpx.MockTransport(network.handle)
        async with AsyncClient(BASE_URL, "sk_test", transport=transport, random=lambda: 0) as client:
            assert (await client.read_ingestion())["queued"] == 0
        assert client._http.is_closed

    trio.run(main)


def test_the_version_is_that_of_the_package() -> None:
    assert parley.__version__ == version("parley-client")


def types_of_the_sync_client(client: Client) -> None:
    """Not called; for the type checker only."""
    assert_type(client.read_answer("id"), types.Answer)
    assert_type(client.read_answer.reply("id"), Reply[types.Answer])
    assert_type(client.list_answers(limit=1), Pages[types.Answer])
    assert_type(client.delete_answer("id"), None)
    client.read_answer(1)  # type: ignore[arg-type]
    client.list_answers(limt=1)  # type: ignore[call-arg]
    client.create_question({"type": "npss", "title": ""})  # type: ignore[typeddict-item]
    client.record_answers({"answers": [{"id": ""}]})  # type: ignore[typeddict-item]


async def types_of_the_async_client(client: AsyncClient) -> None:
    """Not called; for the type checker only."""
    waiting = assert_type(client.read_answer("id"), Coroutine[Any, Any, types.Answer])
    assert_type(await waiting, types.Answer)
    assert_type(await client.read_answer.reply("id"), Reply[types.Answer])
    assert_type(client.list_answers(limit=1), AsyncPages[types.Answer])
    await client.read_answer(1)  # type: ignore[arg-type]
