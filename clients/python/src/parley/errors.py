"""What goes wrong, under names that hold in every language's client."""

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
    "invalid-argument",
]
"""What kind of trouble it is: by the status of the reply, or why there is none."""


class FieldError(TypedDict):
    """One fault among several: where (JSON pointer or parameter name), which, and in words."""

    pointer: str
    code: str
    detail: str


class ParleyError(Exception):
    """Every failure of this package. Whatever else is raised is a bug of it.

    Attributes:
        kind: What kind of trouble it is.
        status: The HTTP status; 0 without a reply.
        code: Parley's own code, such as `validation-failed`; None where the reply has none.
        title: What the code means, in words.
        detail: What happened in this case.
        request_id: What the server's log calls the request.
        errors: Each fault of a body or a query.
        retryable: Whether the same request may succeed later.
        retry_after_ms: After how many milliseconds the server wants to be asked again; None where it doesn't say.
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
        super().__init__(kind, message)  # what pickle makes it from again; the rest lies in its __dict__
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
        faults = "".join(f"\n  {fault['pointer']}: {fault['detail']}" for fault in self.errors)
        return f"{self.kind} ({', '.join(filter(None, known)) or 'nothing was sent'}): {self.args[1]}{faults}"


class InvalidArgument(ParleyError, ValueError):  # noqa: N818  its kind has that name in every language
    """An argument that no server could take. Nothing was sent.

    Attributes:
        argument: The name of the argument.
    """

    def __init__(self, argument: str, why: str) -> None:
        super().__init__("invalid-argument", f"{argument} {why}.")
        self.args = (argument, why)
        self.argument = argument

    def __str__(self) -> str:
        return f"{self.argument} {self.args[1]}."
