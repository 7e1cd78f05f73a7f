"""Errors, with the same names in the clients of every language."""

from collections.abc import Sequence
from typing import Literal, TypedDict

ErrorKind = Literal[
    "malformed",
    "unauthenticated",
    "forbidden",
    "not-found",
    "method-not-allowed",
    "not-acceptable",
    "timed-out",
    "conflict",
    "gone",
    "precondition-failed",
    "too-large",
    "unsupported-media-type",
    "invalid",
    "rate-limited",
    "headers-too-large",
    "internal",
    "not-implemented",
    "unavailable",
    "no-reply",
    "unreadable",
    "insecure-url",
    "invalid-webhook",
    "invalid-argument",
]
"""Kind of failure: derived from the status, or the reason for a missing response."""


_WITHOUT_RESPONSE = {"no-reply": "no complete response; the request may have taken effect"}


class _FieldErrorText(TypedDict):
    code: str
    detail: str


class FieldError(_FieldErrorText, total=False):
    """One validation error: of a value in the body (`pointer`), or of a query parameter or header (`parameter`).

    `pointer` is a JSON pointer, `parameter` a name; one of them is present.
    """

    pointer: str
    parameter: str


def _place_of(fault: FieldError) -> str:
    return fault.get("parameter", fault.get("pointer", ""))


class ParleyError(Exception):
    """The error type of this package. Any other exception is a bug.

    Attributes:
        kind: Kind of failure.
        status: HTTP status; 0 without a response.
        code: Problem code of Parley, such as `validation-failed`, or None.
        title: Meaning of the code.
        detail: Explanation of this occurrence.
        request_id: ID of the request in the server's log.
        errors: Validation errors of the body or the query.
        retryable: Whether the same request may succeed later.
        retry_after_ms: `Retry-After` in milliseconds, or None.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        status: int = 0,
        code: str | None = None,
        title: str | None = None,
        detail: str | None = None,
        request_id: str | None = None,
        errors: Sequence[FieldError] = (),
        retryable: bool = False,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(kind, message)  # arguments for pickle; other attributes are in __dict__
        self.kind: ErrorKind = kind
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.request_id = request_id
        self.errors = list(errors)
        self.retryable = retryable
        self.retry_after_ms = retry_after_ms

    def __str__(self) -> str:
        known = [str(self.status or ""), self.code or "", self.request_id or ""]
        place = ", ".join(filter(None, known)) or _WITHOUT_RESPONSE.get(self.kind, "nothing was sent")
        faults = "".join(f"\n  {_place_of(fault)}: {fault['detail']} ({fault['code']})" for fault in self.errors)
        return f"{self.kind} ({place}): {self.args[1]}{faults}"


class InvalidArgument(ParleyError, ValueError):  # noqa: N818  its kind has that name in every language
    """An invalid argument. Nothing was sent.

    Attributes:
        argument: Name of the argument.
    """

    def __init__(self, argument: str, why: str) -> None:
        super().__init__("invalid-argument", f"{argument} {why}.")
        self.args = (argument, why)
        self.argument = argument

    def __str__(self) -> str:
        return f"{self.argument} {self.args[1]}."
