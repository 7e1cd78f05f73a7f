"""Responses: results or errors."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from math import floor
from typing import Generic, TypeVar, cast

import httpx

from .calls import Call, read_members
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
    410: "gone",
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

_NO_CONTENT = 204

_LONGEST_RETRY_AFTER_MS = 10**12
"""Limit of a parsed `Retry-After`."""


@dataclass(frozen=True)
class Received:
    """A complete response, successful or not."""

    status: int
    headers: httpx.Headers
    content: bytes


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A successful response with status and headers.

    Attributes:
        data: Result of the operation.
        status: HTTP status.
        headers: Response headers, case-insensitive.
    """

    data: T
    status: int
    headers: Mapping[str, str]

    @property
    def etag(self) -> str | None:
        """ETag of the resource, for `if_match`, or None."""
        return self.headers.get("ETag")

    @property
    def request_id(self) -> str | None:
        """ID of the request in the server's log."""
        return self.headers.get("X-Request-Id")


def read_reply(call: Call[T], response: Received, now: float) -> Reply[T]:
    """Parses a response into the call's result.

    Raises:
        ParleyError: For error responses and unreadable ones.
    """
    if not httpx.codes.is_success(response.status):
        raise error_from(response, now)
    try:
        result = call.read(None if response.status == _NO_CONTENT else json.loads(response.content))
    except (TypeError, ValueError, RecursionError) as error:
        raise ParleyError(
            "unreadable",
            "The response is not from Parley. Check the base URL.",
            status=response.status,
            request_id=response.headers.get("X-Request-Id"),
        ) from error
    return Reply(result, response.status, response.headers)


def error_from(response: Received, now: float) -> ParleyError:
    """Converts an error response to an error; `now` is in seconds since 1970."""
    status = response.status
    kind = _kind_of(status)
    known: Mapping[str, object] = {} if kind == "unreadable" else _read_document(response.content)
    code, title, detail = (_text(known.get(name)) for name in ("code", "title", "detail"))
    return ParleyError(
        kind,
        detail or title or f"The server responded with status {status}.",
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
        return "unreadable"  # redirects are not followed: they would send the credential to another URL
    return _KINDS.get(status, "malformed" if status < 500 else "unavailable")


def _read_document(body: bytes) -> Mapping[str, object]:
    """Returns the members of a problem document (RFC 9457); empty if the body is not a JSON object."""
    try:
        return read_members(json.loads(body))
    except (TypeError, ValueError, RecursionError):
        return {}  # a proxy's error page or a truncated response: only the status is used


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _field_errors(value: object) -> list[FieldError]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [error for item in items if (error := _field_error(item)) is not None]


def _field_error(value: object) -> FieldError | None:
    if not isinstance(value, dict):
        return None
    item = cast("dict[str, object]", value)
    code, detail = _text(item.get("code")), _text(item.get("detail"))
    pointer, parameter = _text(item.get("pointer")), _text(item.get("parameter"))
    if code is None or detail is None:
        return None
    if pointer is not None:
        return FieldError(pointer=pointer, code=code, detail=detail)
    return None if parameter is None else FieldError(parameter=parameter, code=code, detail=detail)


def _read_retry_after(value: str | None, now: float) -> int | None:
    """Parses `Retry-After` (seconds or a date, RFC 9110) to milliseconds; None if absent or invalid."""
    if value is None:
        return None
    if re.fullmatch(r"[0-9]+", value):
        digits = value.lstrip("0")[:11]  # more are beyond the limit; Python refuses to parse thousands of them
        return min(int(digits or "0") * 1000, _LONGEST_RETRY_AFTER_MS)
    try:
        at = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError):  # OverflowError: a year of many digits
        return None
    seconds = at.replace(tzinfo=at.tzinfo or timezone.utc).timestamp() - now
    return min(max(0, floor(seconds * 1000)), _LONGEST_RETRY_AFTER_MS)
