import pickle
from datetime import datetime
from typing import Any, get_args

import httpx
import pytest
from contract import contract
from either import KINDS, Kind, Network, connect

from parley_feedback import ErrorKind, ParleyError, RetryPolicy

CASES = contract("problems")
NOW = datetime.fromisoformat(CASES["now"].replace("Z", "+00:00")).timestamp()
STATUSES = {int(status): kind for status, kind in CASES["kinds"].items() if status.isdigit()}


def fail(kind: Kind, response: httpx.Response) -> ParleyError:
    caller = connect(kind, Network(response), now=lambda: NOW, retry=RetryPolicy(retries=0))
    with pytest.raises(ParleyError) as caught:
        caller.call("readQuestion", "question_1")
    caller.close()
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_a_reply_that_is_no_success_is_the_error_of_the_case(case: dict[str, Any], kind: Kind) -> None:
    error = fail(kind, httpx.Response(case["status"], headers=case["headers"], content=case["body"].encode()))
    assert {name: getattr(error, name) for name in case["expect"]} == case["expect"]


@pytest.mark.parametrize("status", range(400, 600))
def test_each_status_has_the_kind_of_the_table(status: int) -> None:
    expected = STATUSES.get(status, CASES["kinds"][f"{status // 100}xx"])
    assert fail("sync", httpx.Response(status)).kind == expected


def test_every_kind_of_the_table_is_one_that_the_type_names() -> None:
    assert set(CASES["kinds"].values()) <= set(get_args(ErrorKind))


def test_an_error_says_all_that_is_known_and_survives_pickling() -> None:
    full = CASES["cases"][0]
    error = fail("sync", httpx.Response(full["status"], headers=full["headers"], content=full["body"].encode()))
    assert str(error) == (
        "invalid (422, validation-failed, req-1): The body does not match the schema.\n  /title: is required (invalid)"
    )
    assert vars(pickle.loads(pickle.dumps(error))) == vars(error)


@pytest.mark.parametrize("body", [b"[]", b"1", b"null", b"", b"[" * 100_000])
@pytest.mark.parametrize("kind", KINDS)
def test_a_success_that_parley_does_not_send_is_unreadable(body: bytes, kind: Kind) -> None:
    error = fail(kind, httpx.Response(200, content=body))
    assert (error.kind, error.status, error.retryable) == ("unreadable", 200, False)


@pytest.mark.parametrize("errors", [1, [1], [{"pointer": 1}], {}])
def test_a_document_of_another_form_breaks_nothing(errors: Any) -> None:
    error = fail("sync", httpx.Response(422, json={"code": 1, "detail": None, "errors": errors}))
    assert (error.code, error.detail, error.errors) == (None, None, [])


@pytest.mark.parametrize(
    "value", ["٣", "Sat, 21 Nov 99999 08:00:00 GMT", f"21 Nov {'9' * 20} 08:00:00 GMT", "1.5", " "]
)
def test_a_retry_after_that_says_nothing_is_not_there(value: str) -> None:
    response = httpx.Response(503, headers=[(b"Retry-After", value.encode())])
    assert fail("sync", response).retry_after_ms is None


@pytest.mark.parametrize("digits", [10, 11, 25, 5000])
def test_a_retry_after_of_many_digits_is_a_long_time(digits: int) -> None:
    error = fail("sync", httpx.Response(503, headers={"Retry-After": "9" * digits}))
    assert error.retry_after_ms == 10**12


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda case: case["name"])
def test_the_text_of_an_error_names_code_request_and_fields(case: dict[str, Any]) -> None:
    error = fail("sync", httpx.Response(case["status"], headers=case["headers"], content=case["body"].encode()))
    fields = [
        field for each in error.errors for field in (each.get("pointer") or each.get("parameter"), each["detail"])
    ]
    assert all(part in str(error) for part in [error.code, error.request_id, *fields] if part)
