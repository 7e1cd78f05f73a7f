from typing import Any

import pytest
from contract import contract
from either import KINDS, Kind

from parley_feedback import AsyncClient, Client, ParleyError
from parley_feedback.base_url import check_base_url

CASES = contract("urls")


@pytest.mark.parametrize("case", CASES["accepted"], ids=lambda case: case["url"])
def test_a_safe_url_becomes_the_base_of_every_path(case: dict[str, Any]) -> None:
    assert check_base_url(case["url"]) == case["base"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["because"])
def test_an_unsafe_url_is_refused_when_the_client_is_made(case: dict[str, Any], kind: Kind) -> None:
    make = Client if kind == "sync" else AsyncClient
    with pytest.raises(ParleyError) as caught:
        make(case["url"], "sk_test")
    assert caught.value.kind == "insecure-url"


@pytest.mark.parametrize(
    "url",
    [
        "https://good.example.com\\@evil.example.com",
        "https://good.example.com\n.evil.example.com",
        "http://127.1:3000",
        "http://[::ffff:127.0.0.1]:3000",
        "http://2130706433",
        "https://example.com:port",
        None,
    ],
)
def test_what_parsers_read_in_different_ways_is_refused(url: Any) -> None:
    with pytest.raises(ParleyError) as caught:
        check_base_url(url)
    assert caught.value.kind == "insecure-url"


def test_a_refused_url_is_not_repeated_in_the_message() -> None:
    with pytest.raises(ParleyError) as caught:
        check_base_url("https://ada:secret@feedback.example.com")
    assert "secret" not in str(caught.value)


def test_a_proxy_of_the_environment_never_sees_a_key_on_its_way_to_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.com:3128")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example.com:3128")
    with Client("http://localhost:3000", "sk_test") as near, Client("https://example.com", "sk_test") as far:
        assert not near._driver.connections.http._mounts
        assert far._driver.connections.http._mounts  # TLS is passed through unchanged


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES["accepted_with_allow_http"], ids=lambda case: case["url"])
def test_plain_http_needs_an_option(case: dict[str, Any], kind: Kind) -> None:
    make = Client if kind == "sync" else AsyncClient
    assert check_base_url(case["url"], allow_http=True) == case["base"]
    make(case["url"], "sk_test", allow_http=True)
    with pytest.raises(ParleyError, match="allow_http=True"):
        make(case["url"], "sk_test")


@pytest.mark.parametrize("case", CASES["refused_with_allow_http"], ids=lambda case: case["because"])
def test_the_option_allows_plain_http_and_no_more(case: dict[str, Any]) -> None:
    with pytest.raises(ParleyError) as caught:
        check_base_url(case["url"], allow_http=True)
    assert caught.value.kind == "insecure-url"
