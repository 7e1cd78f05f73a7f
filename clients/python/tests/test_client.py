from datetime import date, datetime, timedelta, timezone
from enum import Enum, IntEnum
from importlib.metadata import version
from typing import Any
from urllib.parse import parse_qsl

import httpx
import pytest
import trio
from either import BASE_URL, KINDS, Either, Kind, Network, connect

import parley_feedback
from parley_feedback import AsyncClient, Attempt, Client, InvalidArgument, ParleyError, RetryPolicy


@pytest.mark.parametrize("api_key", ["", "secret", "key_1", "sk_", "sk_a b", "sk_a\r\nX: y", "sk_ä", None])
@pytest.mark.parametrize("make", [Client, AsyncClient])
def test_what_is_no_api_key_is_refused_and_not_shown(make: Any, api_key: Any) -> None:
    with pytest.raises(InvalidArgument, match="api_key") as caught:
        make(BASE_URL, api_key)
    assert not api_key or api_key == "sk_" or api_key not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "ftp://proxy.example.com"),
        ("HTTPS_PROXY", "http://[::1"),
        ("NO_PROXY", "[::1]"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
        ("SSL_CERT_FILE", __file__),
    ],
)
@pytest.mark.parametrize("make", [Client, AsyncClient])
def test_an_environment_that_httpx_refuses_is_named(
    make: Any, variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidArgument, match=f"^environment .*{variable}"):
        make(BASE_URL, "sk_precious")


def test_a_client_does_not_show_its_key() -> None:
    with Client(BASE_URL, "sk_precious") as client:
        assert "precious" not in repr(client)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_has_the_entity_tag_for_a_later_write(kind: Kind) -> None:
    headers = {"ETag": '"v1"', "X-Request-Id": "req-1"}
    network = Network(httpx.Response(200, json={"id": "question_1"}, headers=headers))
    caller = connect(kind, network)
    method: Any = caller.client.questions.read
    reply = method.reply("question_1") if kind == "sync" else caller._await(method.reply("question_1"))
    assert (reply.data, reply.status, reply.etag, reply.request_id) == ({"id": "question_1"}, 200, '"v1"', "req-1")


def test_times_are_sent_in_utc_and_days_as_they_are() -> None:
    noon = datetime(2026, 11, 21, 12, 0, tzinfo=timezone(timedelta(hours=1)))
    page = {"data": [], "has_more": False, "next_cursor": None}
    network = Network(httpx.Response(200, json=page), httpx.Response(200, json={}))
    caller = connect("sync", network)
    caller.page("listAnswers", updated_since=noon, verified=False)
    caller.call("readResults", "question_1", from_=date(2026, 11, 1))
    queries = [dict(parse_qsl(request.url.query.decode())) for request in network.sent]
    assert queries == [{"updated_since": "2026-11-21T11:00:00.000Z", "verified": "false"}, {"from": "2026-11-01"}]


WEST = timezone(timedelta(hours=-2))


@pytest.mark.parametrize("time", [datetime(2026, 11, 21), datetime.max.replace(tzinfo=WEST)])
def test_a_time_without_a_zone_or_after_the_last_one_is_refused(time: datetime) -> None:
    with pytest.raises(InvalidArgument, match="updated_since"):
        connect("sync", Network()).page("listAnswers", updated_since=time)


class State(str, Enum):
    DONE = "completed"


class Version(IntEnum):
    FIRST = 1


def test_members_of_an_enum_are_sent_as_their_values() -> None:
    page = {"data": [], "has_more": False, "next_cursor": None}
    network = Network(httpx.Response(200, json=page))
    connect("sync", network).page("listAnswers", state=State.DONE, version=Version.FIRST)
    assert dict(parse_qsl(network.sent[0].url.query.decode())) == {"state": "completed", "version": "1"}


def test_a_client_closes_its_connections_at_the_end_of_a_with() -> None:
    with Client(BASE_URL, "sk_test") as client:
        pass
    assert client._driver.connections.http.is_closed


def test_an_async_client_works_under_trio() -> None:
    network = Network(httpx.Response(503), httpx.Response(200, json={"queued": 0}))

    async def main() -> None:
        transport = httpx.MockTransport(network.handle)
        async with AsyncClient(BASE_URL, "sk_test", transport=transport, random=lambda: 0) as client:
            assert (await client.ingestion.read())["queued"] == 0
        assert client._driver.connections.http.is_closed

    trio.run(main)


def test_the_version_is_that_of_the_package() -> None:
    assert parley_feedback.__version__ == version("parley-feedback")


@pytest.mark.parametrize("kind", KINDS)
def test_each_attempt_is_reported_for_a_log(kind: Kind) -> None:
    attempts: list[Attempt] = []
    body = {"code": "invalid-transition", "request_id": "req-2", "detail": "It is live."}
    network = Network(
        httpx.Response(503, headers={"X-Request-Id": "req-1"}), httpx.ReadError("reset"), httpx.Response(409, json=body)
    )
    with pytest.raises(ParleyError):
        connect(kind, network, on_attempt=attempts.append).call("publishQuestion", "question_1")
    seen = [(each.number, each.status, each.request_id, each.retry_in_ms) for each in attempts]
    assert seen == [(1, 503, "req-1", 250), (2, 0, None, 500), (3, 409, None, None)]
    assert {(each.operation, each.method) for each in attempts} == {("publishQuestion", "POST")}
    assert [each.error.kind for each in attempts if each.error] == ["unavailable", "no-reply", "conflict"]
    assert all(0 <= each.duration_ms < 5000 for each in attempts)


def test_a_success_is_reported_without_an_error() -> None:
    attempts: list[Attempt] = []
    connect("sync", Network(httpx.Response(200, json={})), on_attempt=attempts.append).call("readIngestion")
    assert [(each.number, each.status, each.error, each.retry_in_ms) for each in attempts] == [(1, 200, None, None)]


@pytest.mark.parametrize("kind", KINDS)
def test_options_of_single_calls_leave_the_client_as_it_is(kind: Kind) -> None:
    network = Network(httpx.Response(503), httpx.Response(503), httpx.Response(200, json={}))
    caller = connect(kind, network)
    once = Either(caller.client.with_options(retry=RetryPolicy(retries=0), timeout_s=5, attempt_timeout_s=2))
    with pytest.raises(ParleyError):
        once.call("readIngestion")
    assert len(network.sent) == 1
    assert set(network.sent[0].extensions["timeout"].values()) == {2}
    caller.call("readIngestion")
    assert len(network.sent) == 3
    assert set(network.sent[2].extensions["timeout"].values()) == {30}
    assert type(once.client) is type(caller.client)
