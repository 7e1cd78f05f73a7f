"""Attempts of calls, for logs and metrics."""

from dataclasses import dataclass

from .errors import ParleyError


@dataclass(frozen=True)
class Attempt:
    """A finished attempt of a call, as passed to `on_attempt`. Contains no credential and no data of users.

    Attributes:
        operation: The `operationId` of the OpenAPI document, such as `patchQuestion`.
        method: HTTP method.
        number: Number of the attempt, from 1.
        status: HTTP status; 0 without a response.
        duration_ms: Milliseconds from the request to the complete response.
        request_id: ID of the request in the server's log, if there is a response.
        error: Failure of the attempt, if it failed. Its text may quote the request.
        retry_in_ms: Delay before the next attempt, if there is one.
    """

    operation: str
    method: str
    number: int
    status: int
    duration_ms: int
    request_id: str | None
    error: ParleyError | None
    retry_in_ms: int | None
