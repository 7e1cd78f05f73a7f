import json
from typing import Any
from urllib.parse import parse_qsl
from uuid import UUID

import httpx
import pytest
from contract import arguments, contract
from either import API_KEY, KINDS, Kind, Network, connect

from parley_feedback import InvalidArgument, __version__

CASES = contract("requests")
OURS = [case for case in CASES if {"server", "public-key"} & set(case["as"])]
PUBLIC_KEY = "key_01jcyqxzr0e0080000000000p1"


def is_list(case: dict[str, Any]) -> bool:
    operation: str = case["operation"]
    return operation.startswith("list") or operation == "readEvents"


def success_of(case: dict[str, Any]) -> httpx.Response:
    if is_list(case):
        return httpx.Response(200, json={"data": [], "has_more": False, "next_cursor": None})
    if case["sent"]["method"] == "DELETE" or case["operation"] == "markConversationRead":
        return httpx.Response(204)
    return httpx.Response(200, json={"id": "it"})


def send(kind: Kind, case: dict[str, Any], **named: Any) -> list[httpx.Request]:
    """Returns the requests of a call that is retried once."""
    network = Network(httpx.Response(503), success_of(case))
    positional, others = arguments(case["arguments"])
    if case["as"] == ["public-key"]:
        others["public_key_id"] = PUBLIC_KEY
    caller = connect(kind, network)
    ask = caller.page if is_list(case) else caller.call
    ask(case["operation"], *positional, **others, **named)
    caller.close()
    return network.sent


def test_only_what_is_the_apps_alone_is_left_out() -> None:
    assert {case["operation"] for case in CASES} - {case["operation"] for case in OURS} == {
        "listCards",
        "whoAmI",
        "patchMyAttributes",
        "countUnreadConversations",
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", OURS, ids=lambda case: case["operation"])
def test_exactly_what_the_case_says_goes_out_at_each_attempt(case: dict[str, Any], kind: Kind) -> None:
    first, second = send(kind, case)
    sent = case["sent"]
    path, _, query = first.url.raw_path.decode().partition("?")
    assert (first.method, path) == (sent["method"], sent["path"])
    assert dict(parse_qsl(query, strict_parsing=query != "")) == sent.get("query", {})
    assert (json.loads(first.content) if first.content else None) == sent.get("body")
    assert first.headers.get("Content-Type") == ("application/json" if "body" in sent else None)
    assert first.headers.get("If-Match") == sent.get("if_match")
    assert ("Idempotency-Key" in first.headers) is sent["idempotency_key"]
    assert (first.url, first.content, first.headers) == (second.url, second.content, second.headers)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", OURS, ids=lambda case: case["operation"])
def test_the_credential_is_the_api_key_but_for_public_tokens(case: dict[str, Any], kind: Kind) -> None:
    request = send(kind, case)[0]
    if case["as"] == ["public-key"]:
        assert httpx.BasicAuth("api_key", PUBLIC_KEY)._auth_header == request.headers["Authorization"]
    else:
        assert request.headers["Authorization"] == f"Bearer {API_KEY}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", OURS, ids=lambda case: case["operation"])
def test_every_request_names_its_sender(case: dict[str, Any], kind: Kind) -> None:
    assert {request.headers["User-Agent"] for request in send(kind, case)} == {f"parley-python/{__version__}"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_of_the_callers_own_is_sent_as_it_is(kind: Kind) -> None:
    posts = [case for case in OURS if case["sent"]["idempotency_key"]]
    assert len(posts) > 10
    for case in posts:
        assert send(kind, case, idempotency_key="mine")[0].headers["Idempotency-Key"] == "mine"


def test_each_call_has_a_key_of_its_own() -> None:
    case = next(case for case in OURS if case["operation"] == "createMessage")
    assert send("sync", case)[0].headers["Idempotency-Key"] != send("sync", case)[0].headers["Idempotency-Key"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["", ".", "..", None, 42, "\ud83d"])
def test_what_would_lead_to_another_path_is_refused(value: Any, kind: Kind) -> None:
    network = Network()
    with pytest.raises(InvalidArgument, match="identity"):
        connect(kind, network).call("readIdentity", value)
    assert network.sent == []


@pytest.mark.parametrize("body", [{"x": float("nan")}, {"x": object()}, {"x": "\ud83d"}])
def test_what_json_has_no_form_for_is_refused(body: Any) -> None:
    network = Network()
    with pytest.raises(InvalidArgument, match=r"body must be serializable as JSON: \S+ \S+"):
        connect("sync", network).call("createQuestion", **body)
    assert network.sent == []


@pytest.mark.parametrize("kind", KINDS)
def test_what_no_url_can_hold_is_refused(kind: Kind) -> None:
    network = Network()
    with pytest.raises(InvalidArgument, match="query must fit"):
        connect(kind, network).page("listQuestions", q="x" * 70_000)
    assert network.sent == []


@pytest.mark.parametrize(
    "named",
    [
        {"if_match": '"a"\r\nX: y'},
        {"if_match": 1},
        {"idempotency_key": "ä"},
        {"idempotency_key": ""},  # it would not be the same in the next attempt
        {"idempotency_key": UUID(int=1)},
    ],
)
def test_what_no_header_can_hold_is_refused(named: Any) -> None:
    network = Network()
    with pytest.raises(InvalidArgument, match=next(iter(named))):
        connect("sync", network).call("publishQuestion", "question_1", **named)
    assert network.sent == []


@pytest.mark.parametrize("key_id", [None, "", "sk_1"])
def test_what_is_no_public_key_is_refused(key_id: Any) -> None:
    network = Network()
    with pytest.raises(InvalidArgument, match="public_key_id"):
        connect("sync", network).call("issuePublicToken", "tenant_1", user_id="1", public_key_id=key_id)
    assert network.sent == []
