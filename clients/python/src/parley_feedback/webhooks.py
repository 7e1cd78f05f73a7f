"""Verification of requests to a webhook."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from .errors import InvalidArgument, ParleyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .types import WebhookEvent

TOLERANCE_SECONDS = 300
"""How old, and how far ahead, the time of a request may be."""

_SECRET = re.compile(r"whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)")  # 24 bytes or more
_SIGNATURE = re.compile(r"v1,([A-Za-z0-9+/]{43}=)")

Code = Literal["missing-header", "invalid-timestamp", "too-old", "too-new", "wrong-signature", "not-an-event"]


class Headers(Protocol):
    """Headers of a request: a dictionary, or those of Flask, Django, Starlette or `http.server`."""

    def items(self) -> Iterable[tuple[str, str]]:
        """Returns names and values."""
        ...


def verify_webhook(
    body: bytes | str, headers: Headers, secret: str | Sequence[str], *, now: float | None = None
) -> WebhookEvent:
    """Returns the event of a request, if it was signed with the webhook's secret within the last five minutes.

    The scheme is Standard Webhooks.

    Args:
        body: Body of the request as received, before any parsing.
        headers: Headers of the request.
        secret: Secret of the webhook, `whsec_…`, or several of these while you change it.
        now: Current time in seconds since 1970; defaults to the system clock.

    Raises:
        ParleyError: `invalid-webhook`: the request is not from Parley; reply 400. `code` is the reason.
        InvalidArgument: Names the argument; never contains the secret.
    """
    keys = [_key_of(each) for each in (secret if isinstance(secret, list | tuple) else [secret])]
    if not keys:
        raise InvalidArgument("secret", "must be the secret of the webhook, whsec_…")
    if not isinstance(body, bytes | str):
        raise InvalidArgument("body", "must be the bytes or the text of the request, before parsing")
    content = _bytes_of(body) if isinstance(body, str) else body
    sender, timestamp, given = [_header(headers, f"webhook-{name}") for name in ("id", "timestamp", "signature")]
    _check_time(timestamp, time.time() if now is None else now)
    signed = _bytes_of(f"{sender}.{timestamp}.") + content
    signatures = [base64.b64decode(match[1]) for match in map(_SIGNATURE.fullmatch, given.split(" ")) if match]
    digests = [hmac.new(key, signed, hashlib.sha256).digest() for key in keys]
    if not any(hmac.compare_digest(digest, signature) for digest in digests for signature in signatures):
        raise _refusal("wrong-signature", "No signature of the request was made with the secret of the webhook.")
    return _read(content)


def _refusal(code: Code, message: str) -> ParleyError:
    return ParleyError("invalid-webhook", message, code=code)


def _bytes_of(text: str) -> bytes:
    """Returns UTF-8. Lone surrogates (invalid bytes of a header in aiohttp) become bytes that are never signed."""
    return text.encode(errors="surrogatepass")


def _key_of(secret: object) -> bytes:
    match = _SECRET.fullmatch(secret) if isinstance(secret, str) else None
    if not match:
        raise InvalidArgument("secret", "must be the secret of the webhook, whsec_…")
    return base64.b64decode(match[1])


def _header(headers: Headers, name: str) -> str:
    values = [value for given, value in headers.items() if given.lower() == name]
    if len(values) != 1 or not values[0]:
        raise _refusal("missing-header", f"The request has no header {name}.")
    return values[0]


def _check_time(timestamp: str, now: float) -> None:
    if not re.fullmatch("[0-9]{1,15}", timestamp):
        raise _refusal("invalid-timestamp", "The header webhook-timestamp is not a number of seconds.")
    age = int(now) - int(timestamp)
    if age > TOLERANCE_SECONDS:
        raise _refusal("too-old", f"The request is {age} s old; {TOLERANCE_SECONDS} s are allowed.")
    if age < -TOLERANCE_SECONDS:
        why = f"The time of the request is {-age} s ahead; {TOLERANCE_SECONDS} s are allowed. Check your clock."
        raise _refusal("too-new", why)


def _read(content: bytes) -> WebhookEvent:
    try:
        event: Any = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise _refusal("not-an-event", "The body is not JSON.") from error
    known = cast("dict[str, Any]", event) if isinstance(event, dict) else {}
    if not isinstance(known.get("id"), str) or not isinstance(known.get("type"), str):
        raise _refusal("not-an-event", "The body is not an event.")
    return cast("WebhookEvent", known)
