import base64
import hashlib
import hmac
import json
from email.message import Message
from typing import Any

import pytest
from contract import contract

from parley_feedback import InvalidArgument, ParleyError, verify_webhook

CASES = contract("webhooks")
GOOD = CASES["verify"][0]


def body_of(case: dict[str, Any]) -> bytes:
    return base64.b64decode(case["body_base64"]) if "body_base64" in case else case["body"].encode()


def verify(case: dict[str, Any]) -> Any:
    return verify_webhook(body_of(case), case["headers"], case["secrets"], now=CASES["now"])


@pytest.mark.parametrize("case", CASES["verify"], ids=lambda case: case["name"])
def test_a_request_is_accepted(case: dict[str, Any]) -> None:
    assert verify(case) == json.loads(case["body"])


@pytest.mark.parametrize("case", CASES["refuse"], ids=lambda case: case["name"])
def test_a_request_is_refused(case: dict[str, Any]) -> None:
    with pytest.raises(ParleyError) as caught:
        verify(case)
    assert (caught.value.kind, caught.value.code, caught.value.retryable) == ("invalid-webhook", case["code"], False)


@pytest.mark.parametrize("case", CASES["invalid"], ids=lambda case: case["name"])
def test_a_wrong_secret_is_named_and_not_shown(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=case["argument"]) as caught:
        verify(case)
    for secret in filter(None, case["secrets"]):
        assert secret not in repr(caught.value) + str(caught.value)


def test_a_secret_that_the_environment_lacks_is_named() -> None:
    with pytest.raises(InvalidArgument, match="secret"):
        verify_webhook(body_of(GOOD), GOOD["headers"], [None])  # type: ignore[list-item]


def test_the_body_may_be_text_and_one_secret_is_enough() -> None:
    event = verify_webhook(GOOD["body"], GOOD["headers"], GOOD["secrets"][0], now=CASES["now"])
    assert event["type"] == "answer.completed"


def test_a_body_that_was_parsed_already_is_an_invalid_argument() -> None:
    with pytest.raises(InvalidArgument, match="body"):
        verify_webhook(json.loads(GOOD["body"]), GOOD["headers"], GOOD["secrets"], now=CASES["now"])


def test_headers_may_be_those_of_the_standard_library_once_each() -> None:
    headers = Message()
    for name, value in GOOD["headers"].items():
        headers[name] = value
    assert verify_webhook(body_of(GOOD), headers, GOOD["secrets"], now=CASES["now"])["id"]
    headers["Webhook-Id"] = "another"
    with pytest.raises(ParleyError, match="missing-header"):
        verify_webhook(body_of(GOOD), headers, GOOD["secrets"], now=CASES["now"])


def test_a_request_is_compared_with_the_clock() -> None:
    with pytest.raises(ParleyError, match="too-"):
        verify_webhook(body_of(GOOD), GOOD["headers"], GOOD["secrets"])


@pytest.mark.parametrize("name", ["webhook-id", "webhook-signature"])
def test_a_header_with_invalid_bytes_is_refused(name: str) -> None:
    headers = {**GOOD["headers"], name: "v1,\udcff"}  # as aiohttp decodes the byte 0xFF
    with pytest.raises(ParleyError) as caught:
        verify({**GOOD, "headers": headers})
    assert caught.value.code == "wrong-signature"


def test_a_body_of_many_levels_is_refused() -> None:
    secret = b"0" * 24
    body = b"[" * 100_000
    sender, timestamp = GOOD["headers"]["webhook-id"], GOOD["headers"]["webhook-timestamp"]
    digest = hmac.new(secret, f"{sender}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    headers = {**GOOD["headers"], "webhook-signature": f"v1,{base64.b64encode(digest).decode()}"}
    with pytest.raises(ParleyError) as caught:
        verify_webhook(body, headers, f"whsec_{base64.b64encode(secret).decode()}", now=CASES["now"])
    assert caught.value.code == "not-an-event"
