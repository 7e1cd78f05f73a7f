"""Parley for Python backends: sign tokens for your users, call with an API key, and receive webhooks.

`Client` and `AsyncClient` have the same operations, grouped by resource: `client.questions.update(id, title="…")`.
Every failure is raised as a `ParleyError`.
"""

from .attempts import Attempt
from .client import AsyncClient, Client
from .errors import ErrorKind, FieldError, InvalidArgument, ParleyError
from .pages import AsyncPages, Page, Pages
from .replies import Reply
from .retry import REQUEST_POLICY, RetryPolicy
from .signing import sign_token
from .version import __version__
from .webhooks import verify_webhook

__all__ = [
    "REQUEST_POLICY",
    "AsyncClient",
    "AsyncPages",
    "Attempt",
    "Client",
    "ErrorKind",
    "FieldError",
    "InvalidArgument",
    "Page",
    "Pages",
    "ParleyError",
    "Reply",
    "RetryPolicy",
    "__version__",
    "sign_token",
    "verify_webhook",
]
