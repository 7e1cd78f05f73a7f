"""The logic of a call without I/O: what to send and how to handle the response."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil
from time import monotonic
from typing import Generic, TypeVar

import httpx

from .attempts import Attempt
from .calls import Call, content, target
from .errors import InvalidArgument, ParleyError
from .replies import Received, Reply, read_reply
from .retry import RetryPolicy, delay_before
from .version import __version__

T = TypeVar("T")

Outcome = Received | httpx.RequestError
"""Outcome of an attempt: a response or an error."""

LONGEST_TIMEOUT_S = 86_400
"""Maximum time limit of a call: a day."""

_NOT_FOUND = 404
_INTERNAL_ERROR = 500

USER_AGENT = f"parley-python/{__version__}"


@dataclass(frozen=True)
class Again:
    """Decision to retry a call."""

    delay_s: float


@dataclass(frozen=True)
class Settings:
    """Settings shared by all calls of a client."""

    base_url: str
    api_key: str
    retry: RetryPolicy
    timeout_s: float
    attempt_timeout_s: float
    on_attempt: Callable[[Attempt], object] | None
    now: Callable[[], float]
    random: Callable[[], float]

    def __post_init__(self) -> None:
        """Checks the time limits: sockets and threads accept neither infinity nor None for "no limit"."""
        for name in ("timeout_s", "attempt_timeout_s"):
            if not 0 < getattr(self, name) <= LONGEST_TIMEOUT_S:
                raise InvalidArgument(name, f"must be a number of seconds above 0, at most {LONGEST_TIMEOUT_S}")


def check_api_key(api_key: str) -> str:
    """Returns the bearer value of a server key.

    Raises:
        InvalidArgument: If it is not one, for example the key's secret.
    """
    if not re.fullmatch(r"sk_[\x21-\x7e]+", api_key or ""):  # unset environment variables are None
        raise InvalidArgument("api_key", "must be the bearer value of a server key, which starts with sk_")
    return api_key


class Progress(Generic[T]):
    """A call in progress: its request, and the decision after each attempt."""

    def __init__(self, settings: Settings, call: Call[T]) -> None:
        self.request = _outgoing(settings, call)
        self._settings = settings
        self._call = call
        self._ends = monotonic() + settings.timeout_s
        self._attempts = 0
        self._is_perhaps_done = False
        self._started = 0.0

    def attempt_limit_s(self) -> float:
        """Starts an attempt; returns its time limit."""
        self._attempts += 1
        self._started = monotonic()
        return max(0.0, min(self._settings.attempt_timeout_s, self._ends - self._started))

    def judge(self, outcome: Outcome) -> Reply[T] | Again:
        """Evaluates an attempt.

        Raises:
            ParleyError: If the call has failed permanently, or if the delay would exceed its time limit.
        """
        try:
            reply = self._read(outcome)
        except ParleyError as error:
            delay_ms = self._delay_ms(error)
            self._is_perhaps_done |= error.status == 0 or error.status >= _INTERNAL_ERROR
            self._report(outcome, error, delay_ms)
            if delay_ms is None:
                raise
            return Again(delay_ms / 1000)
        self._report(outcome, None, None)
        return reply

    def _read(self, outcome: Outcome) -> Reply[T]:
        if not isinstance(outcome, Received):
            why = "The server could not be reached or the response was incomplete"
            raise ParleyError("no-reply", f"{why}: {outcome!r}", retryable=True) from outcome
        if outcome.status == _NOT_FOUND and self._call.method == "DELETE" and self._is_perhaps_done:
            return Reply(self._call.read(None), outcome.status, {})  # deleted by an attempt whose response was lost
        return read_reply(self._call, outcome, self._settings.now())

    def _delay_ms(self, error: ParleyError) -> int | None:
        if not error.retryable:
            return None
        policy, random = self._settings.retry, self._settings.random()
        delay_ms = delay_before(policy, self._attempts, random, error.retry_after_ms)
        if delay_ms is None or monotonic() + delay_ms / 1000 >= self._ends:
            return None
        return delay_ms

    def _report(self, outcome: Outcome, error: ParleyError | None, delay_ms: int | None) -> None:
        if self._settings.on_attempt is None:
            return
        received = outcome if isinstance(outcome, Received) else None
        attempt = Attempt(
            operation=self._call.operation,
            method=self._call.method,
            number=self._attempts,
            status=received.status if received else 0,
            duration_ms=ceil((monotonic() - self._started) * 1000),
            request_id=received.headers.get("X-Request-Id") if received else None,
            error=error,
            retry_in_ms=delay_ms,
        )
        self._settings.on_attempt(attempt)


def _outgoing(settings: Settings, call: Call[T]) -> httpx.Request:
    """Builds the request, identical for each attempt of a call."""
    headers: Mapping[str, str] = {
        "Authorization": f"Bearer {settings.api_key}",
        "Accept": "application/json, application/problem+json",
        "User-Agent": USER_AGENT,
        **({} if call.body is None else {"Content-Type": "application/json"}),
        **call.headers,
    }
    body = None if call.body is None else content(call.body)
    url = settings.base_url + target(call.path, call.query)
    waits = httpx.Timeout(min(settings.attempt_timeout_s, settings.timeout_s)).as_dict()
    try:
        return httpx.Request(call.method, url, headers=headers, content=body, extensions={"timeout": waits})
    except httpx.InvalidURL as error:  # of more than 64 KB, for example by the text of a search
        raise InvalidArgument("query", f"must fit into a URL: {error}") from error
