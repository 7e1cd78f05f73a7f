"""The logic of a call without I/O: what to send and how to handle the response."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import httpx

from .base_url import check_base_url
from .calls import Call, content, target
from .errors import InvalidArgument, ParleyError
from .replies import Reply, read_reply
from .retry import RetryPolicy, delay_before
from .version import __version__

T = TypeVar("T")

Outcome = httpx.Response | httpx.RequestError
"""Outcome of an attempt: a response or an error."""


@dataclass(frozen=True)
class Again:
    """Decision to retry a call."""

    delay_s: float


@dataclass(frozen=True)
class Settings:
    """Settings shared by all calls of a client."""

    base_url: str
    api_key: str
    policy: RetryPolicy
    now: Callable[[], float]
    random: Callable[[], float]


def open_settings(
    base_url: str, api_key: str, policy: RetryPolicy, now: Callable[[], float], random: Callable[[], float]
) -> Settings:
    """Validates the settings of a client.

    Raises:
        ParleyError: `insecure-url`.
        InvalidArgument: If `api_key` is not an API key, for example the key's secret.
    """
    if not re.fullmatch(r"sk_[\x21-\x7e]+", api_key or ""):  # unset environment variables are None
        raise InvalidArgument("api_key", "must be the bearer value of a server key, which starts with sk_")
    return Settings(check_base_url(base_url), api_key, policy, now, random)


def outgoing(settings: Settings, call: Call[T]) -> httpx.Request:
    """Builds the request, identical for each attempt of a call."""
    headers: Mapping[str, str] = {
        "Authorization": f"Bearer {settings.api_key}",
        "Accept": "application/json, application/problem+json",
        "User-Agent": f"parley-python/{__version__}",
        **({} if call.body is None else {"Content-Type": "application/json"}),
        **call.headers,
    }
    body = None if call.body is None else content(call.body)
    url = settings.base_url + target(call.path, call.query)
    return httpx.Request(call.method, url, headers=headers, content=body)


def judge(settings: Settings, call: Call[T], outcome: Outcome, retry: int) -> Reply[T] | Again:
    """Evaluates an attempt; `retry` is the number of the next retry, counted from 1.

    Raises:
        ParleyError: If the call has failed permanently.
    """
    try:
        return _read(settings, call, outcome)
    except ParleyError as error:
        if call.method == "DELETE" and error.kind == "not-found" and retry > 1:
            return Reply(call.read(None), error.status, {})  # deleted by an earlier attempt whose response was lost
        delay_ms = delay_before(settings.policy, retry, settings.random(), error.retry_after_ms)
        if not error.retryable or delay_ms is None:
            raise
        return Again(delay_ms / 1000)


def _read(settings: Settings, call: Call[T], outcome: Outcome) -> Reply[T]:
    if isinstance(outcome, httpx.Response):
        return read_reply(call, outcome, settings.now())
    why = "The server could not be reached or the response was incomplete"
    raise ParleyError("no-reply", f"{why}: {outcome!r}", retryable=True) from outcome
