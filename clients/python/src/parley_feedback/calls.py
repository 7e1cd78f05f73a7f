"""Descriptions of requests, before they are sent."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast
from urllib.parse import quote
from uuid import uuid4

from .errors import InvalidArgument
from .pages import Page, read_page

if TYPE_CHECKING:
    from .batches import Parts

T = TypeVar("T")

Query = Mapping[str, str | int | date | Sequence[str] | None]
"""Query parameters; None is omitted."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request and the parser of its successful response."""

    method: str
    path: str
    read: Callable[[object], T]
    query: Query = field(default_factory=lambda: {})
    body: object = None
    headers: Mapping[str, str] = field(default_factory=lambda: {})
    operation: str = ""
    """`operationId` of the OpenAPI document."""
    parts: Callable[["Call[Any]"], "Parts"] | None = None
    """Divides a request whose content is refused."""


def path(pattern: str, **values: str) -> str:
    """Fills the `{names}` of a path, percent-encoded except for the unreserved characters of RFC 3986.

    Raises:
        InvalidArgument: For values that are not strings, and for empty strings, `.` and `..`.
    """
    for name, value in values.items():
        if not isinstance(value, str) or value in {"", ".", ".."}:
            raise InvalidArgument(name, "must be a non-empty string other than . and ..")
    return pattern.format_map({name: _encode(name, value) for name, value in values.items()})


def target(path: str, query: Query) -> str:
    """Appends the query to a path."""
    parts = [f"{name}={_encode(name, as_text(name, value))}" for name, value in query.items() if value is not None]
    return f"{path}?{'&'.join(parts)}" if parts else path


def as_text(name: str, value: str | int | date | Sequence[str]) -> str:
    """Returns a value as it is sent: times in UTC, several values separated by commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return str.__str__(value)  # `str` of a member of an enum is its name
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, Sequence):
        return ",".join(as_text(name, each) for each in value)
    if not isinstance(value, datetime):
        return str(value)  # dates as well: ISO 8601
    if value.tzinfo is None:
        raise InvalidArgument(name, "must have a time zone")
    try:
        utc = value.astimezone(timezone.utc)
    except OverflowError as error:  # such as `datetime.max` in a zone west of Greenwich
        raise InvalidArgument(name, "must be in the years 1 to 9999, in UTC") from error
    return utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def content(body: object) -> bytes:
    """Encodes a body as JSON in UTF-8.

    Raises:
        InvalidArgument: For values that JSON cannot represent.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument("body", f"must be serializable as JSON: {error}") from error


def get(path: str, query: Query | None = None) -> Call[Any]:
    """Reads one resource."""
    return Call("GET", path, _read_object, query or {})


def get_page(path: str, query: Query) -> Call[Page[Any]]:
    """Reads one page of a list."""
    return Call("GET", path, read_page, query)


def post(path: str, body: object, idempotency_key: str | None, if_match: str | None = None) -> Call[Any]:
    """A POST with an idempotency key, valid for 24 hours; generated unless given."""
    key = str(uuid4()) if idempotency_key is None else idempotency_key
    headers = _header("Idempotency-Key", "idempotency_key", key)
    return Call("POST", path, _read_object, body=body, headers={**headers, **_if_match(if_match)})


def post_identified(path: str, body: object, parts: Callable[[Call[Any]], "Parts"] | None) -> Call[Any]:
    """A POST whose items have ids: retries are safe without an `Idempotency-Key`."""
    return Call("POST", path, _read_results if parts else _read_object, body=body, parts=parts)


def post_as_public_key(path: str, body: object, key_id: str) -> Call[Any]:
    """A POST authenticated by the id of a public key (specification 4.2)."""
    if not isinstance(key_id, str) or not key_id.startswith("key_"):  # unset environment variables are None
        raise InvalidArgument("public_key_id", "must be the id of a public key")
    basic = b64encode(f"api_key:{key_id}".encode()).decode("ascii")
    return Call("POST", path, _read_object, body=body, headers={"Authorization": f"Basic {basic}"})


def put(path: str, body: object, query: Query | None = None, if_match: str | None = None) -> Call[Any]:
    """Replaces a resource."""
    return Call("PUT", path, _read_object, query or {}, body, _if_match(if_match))


def put_mark(path: str, body: object) -> Call[None]:
    """A PUT without a result."""
    return Call("PUT", path, _read_nothing, body=body)


def patch(path: str, body: object, query: Query | None = None, if_match: str | None = None) -> Call[Any]:
    """Updates parts of a resource."""
    return Call("PATCH", path, _read_object, query or {}, body, _if_match(if_match))


def delete(path: str, if_match: str | None = None) -> Call[None]:
    """Deletes a resource; no result."""
    return Call("DELETE", path, _read_nothing, headers=_if_match(if_match))


def read_members(value: object) -> dict[str, object]:
    """Returns the members of a JSON object. Raises a `TypeError` for any other value."""
    if not isinstance(value, dict):
        raise TypeError("not a JSON object")
    return cast("dict[str, object]", value)


def _read_nothing(_: object) -> None:
    return None


def _read_object(value: object) -> Any:
    return read_members(value)


def _read_results(value: object) -> Any:
    members = read_members(value)
    if not isinstance(members.get("results"), list):
        raise TypeError("no list of results")
    return members


def _encode(name: str, value: str) -> str:
    try:
        return quote(value, safe="")
    except UnicodeEncodeError as error:  # a lone surrogate
        raise InvalidArgument(name, "must be encodable as UTF-8") from error


def _if_match(etag: str | None) -> Mapping[str, str]:
    return {} if etag is None else _header("If-Match", "if_match", etag)


def _header(name: str, argument: str, value: str) -> Mapping[str, str]:
    if not isinstance(value, str) or not re.fullmatch(r"[\x20-\x7e]+", value):
        raise InvalidArgument(argument, "must be a non-empty string of printable ASCII")
    return {name: value}
