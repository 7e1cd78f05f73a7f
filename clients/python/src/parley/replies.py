"""What came back: a result, or a failure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from math import floor
from typing import Generic, TypeVar

import httpx

from .calls import Call
from .errors import ErrorKind, FieldError, ParleyError

T = TypeVar("T")

_KINDS: Mapping[int, ErrorKind] = {
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    408: "timed-out",
    409: "conflict",
    412: "precondition-failed",
    413: "too-large",
    415: "unsupported-media-type",
    422: "invalid",
    425: "unavailable",
    429: "rate-limited",
    431: "headers-too-large",
    500: "internal",
    501: "not-implemented",
}


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A success, with what the server said beside the result.

    Attributes:
        data: The result of the operation.
        status: The HTTP status.
        headers: By name, in any case.
    """

    data: T
    status: int
    headers: Mapping[str, str]

    @property
    def etag(self) -> str | None:
        """The version of the resource, for `if_match`; None where it has none."""
        return self.headers.get("ETag")

    @property
    def request_id(self) -> str | None:
        """What the server's log calls the request."""
        return self.headers.get("X-Request-Id")


def read_reply(call: Call[T], response: httpx.Response, now: float) -> Reply[T]:
    """Reads a reply as the call's result.

    Raises:
        ParleyError: For what is no success, or none that can be read.
    """
    if not response.is_success:
        raise error_from(response, now)
    try:
        result = call.read(None if response.status_code == httpx.codes.NO_CONTENT else json.loads(response.content))
    except (TypeError, ValueError, RecursionError) as error:
        raise ParleyError(
            "unreadable",
            "The reply is not one of Parley's: is the base URL right?",
            status=response.status_code,
            request_id=response.headers.get("X-Request-Id"),
        ) from error
    return Reply(result, response.status_code, response.headers)


def error_from(response: httpx.Response, now: float) -> ParleyError:
    """Gives a reply that is no success as an error; `now` is in seconds since 1970."""
    status = response.status_code
    kind = _kind_of(status)
    known = {} if kind == "unreadable" else _read_document(response.content)
    code, title, detail = (_text(known.get(name)) for name in ("code", "title", "detail"))
    return ParleyError(
        kind,
        detail or title or f"The server answered {status}.",
        status=status,
        code=code,
        title=title,
        detail=detail,
        request_id=_text(known.get("request_id")) or response.headers.get("X-Request-Id"),
        errors=_field_errors(known.get("errors")),
        retryable=status in {408, 425, 429} or status >= 500 or code == "idempotency-key-in-use",
        retry_after_ms=_read_retry_after(response.headers.get("Retry-After"), now),
    )


def _kind_of(status: int) -> ErrorKind:
    if status < 400:
        return "unreadable"  # redirects are not followed: they would carry the credential elsewhere
    return _KINDS.get(status, "malformed" if status < 500 else "unavailable")


def _read_document(body: bytes) -> Mapping[str, object]:
    """Gives the members of a problem document (RFC 9457); none where the body is no JSON object."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}  # a proxy's page, or a reply that broke off: the status alone tells what it is
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _field_errors(value: object) -> list[FieldError]:
    items = value if isinstance(value, list) else []
    return [
        FieldError(pointer=item["pointer"], code=item["code"], detail=item["detail"])
        for item in items
        if isinstance(item, dict) and all(isinstance(item.get(name), str) for name in ("pointer", "code", "detail"))
    ]


def _read_retry_after(value: str | None, now: float) -> int | None:
    """Gives `Retry-After` in milliseconds: seconds or a date (RFC 9110); None where it says neither."""
    if value is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", value):
        return int(value) * 1000
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    seconds = at.replace(tzinfo=at.tzinfo or timezone.utc).timestamp() - now
    return max(0, floor(seconds * 1000))
