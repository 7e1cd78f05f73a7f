import base64
import hashlib
import hmac
import json
import sys
from typing import Any

import pytest
from contract import contract

from parley_feedback import InvalidArgument, sign_token

CASES = contract("signing")
HEADER = {"alg": "HS256", "typ": "JWT", "cty": "svc-fpa;v=1"}


def decode(part: str) -> Any:
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def is_signed(token: str, secret: str) -> bool:
    """Checks header and signature of a token with the standard library only."""
    signed, _, signature = token.rpartition(".")
    digest = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest()
    expected = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    return hmac.compare_digest(signature, expected) and decode(signed.split(".")[0]) == HEADER


def sign(case: dict[str, Any]) -> str:
    names = ["identity", "key_id", "secret", "tenant_id", "now", "lifetime_seconds"]
    return sign_token(**{name: case[name] for name in names if name in case})


@pytest.mark.parametrize("case", CASES["check"], ids=lambda case: case["name"])
def test_the_checker_of_this_test_tells_right_from_wrong(case: dict[str, Any]) -> None:
    assert is_signed(case["token"], case["secret"]) is case["valid"]


@pytest.mark.parametrize("case", CASES["sign"], ids=lambda case: case["name"])
def test_a_token_has_the_header_the_claims_and_the_signature_of_the_case(case: dict[str, Any]) -> None:
    token = sign(case)
    assert is_signed(token, case["secret"])
    assert decode(token.split(".")[0]) == case["header"]
    assert decode(token.split(".")[1]) == case["claims"]


@pytest.mark.parametrize("case", CASES["refuse"], ids=lambda case: case["name"])
def test_a_wrong_argument_is_named_and_the_secret_is_not_shown(case: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=case["argument"]) as caught:
        sign(case)
    assert caught.value.argument == case["argument"]
    assert caught.value.kind == "invalid-argument"
    assert isinstance(caught.value, ValueError)
    if case["secret"]:
        assert case["secret"] not in repr(caught.value) + str(caught.value)


@pytest.mark.parametrize("name", ["key_id", "secret", "tenant_id"])
def test_what_the_environment_lacks_is_named(name: str) -> None:
    case = {**CASES["sign"][0], name: None}
    with pytest.raises(InvalidArgument, match=name):
        sign(case)


def test_half_of_a_character_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="identity"):
        sign({**CASES["sign"][0], "identity": "\ud83d"})


def test_without_pyjwt_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jwt", None)
    with pytest.raises(ModuleNotFoundError, match=r"parley-feedback\[signing\]"):
        sign(CASES["sign"][0])
