from dataclasses import asdict
from typing import Any

import httpx
import pytest
from contract import contract
from either import KINDS, Kind, Network, connect

from parley_feedback import REQUEST_POLICY, ParleyError, RetryPolicy
from parley_feedback.retry import delay_before

CASES = contract("retries")
OPERATIONS: dict[str, tuple[Any, ...]] = {
    "GET": ("readQuestion", "question_1"),
    "POST": ("publishQuestion", "question_1"),
    "PUT": ("putIdentity", "user|42"),
    "DELETE": ("deleteQuestion", "question_1"),
}


def reply(status: int | str, method: str) -> httpx.Response | httpx.RequestError:
    if isinstance(status, str):
        return httpx.ReadError("the connection was reset")
    return httpx.Response(204) if method == "DELETE" and status == 200 else httpx.Response(status, json={})


def test_a_request_is_repeated_as_the_contract_says() -> None:
    assert asdict(REQUEST_POLICY) == CASES["policies"]["request"]


@pytest.mark.parametrize("case", CASES["delays"], ids=str)
def test_a_delay_is_that_of_the_case(case: dict[str, Any]) -> None:
    policy = RetryPolicy(**CASES["policies"][case["policy"]])
    assert delay_before(policy, case["retry"], case["random"], case["retry_after_ms"]) == case["delay_ms"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES["calls"], ids=lambda case: case["name"])
def test_a_call_is_tried_as_often_as_the_case_says(case: dict[str, Any], kind: Kind) -> None:
    network = Network(*[reply(status, case["method"]) for status in case["replies"]])
    caller = connect(kind, network)
    try:
        caller.call(*OPERATIONS[case["method"]])
        outcome = "success"
    except ParleyError as error:
        outcome = error.kind
    caller.close()
    assert (outcome, len(network.sent)) == (case["outcome"], case["attempts"])
    assert network.waited_s == [0.25, 0.5, 1.0][: case["attempts"] - 1]


@pytest.mark.parametrize("kind", KINDS)
def test_it_waits_as_long_as_the_server_asks_for(kind: Kind) -> None:
    network = Network(httpx.Response(429, headers={"Retry-After": "7"}), httpx.Response(200, json={}))
    connect(kind, network, random=lambda: 0).call("readIngestion")
    assert network.waited_s == [7]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "error", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.DecodingError, httpx.PoolTimeout]
)
def test_whatever_ends_without_a_reply_is_no_reply_with_its_cause(error: type[httpx.RequestError], kind: Kind) -> None:
    cause = error("broken")
    with pytest.raises(ParleyError) as caught:
        connect(kind, Network(cause), retry=RetryPolicy(retries=0)).call("readIngestion")
    assert (caught.value.kind, caught.value.status, caught.value.retryable) == ("no-reply", 0, True)
    assert caught.value.__cause__ is cause
    assert "nothing was sent" not in str(caught.value)
    assert "the request may have taken effect" in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_redirect_is_not_followed(kind: Kind) -> None:
    network = Network(httpx.Response(307, headers={"Location": "https://elsewhere.example.com/"}))
    with pytest.raises(ParleyError):
        connect(kind, network).call("readIngestion")
    assert len(network.sent) == 1
