"""Parley for Python backends: sign tokens for your users, and call with an API key.

`Client` and `AsyncClient` have the same operations, under the names of the OpenAPI document in the case of Python.
Every failure of this package is a `ParleyError`.
"""

from .client import AsyncClient, Client
from .errors import ErrorKind, FieldError, InvalidArgument, ParleyError
from .pages import AsyncPages, Page, Pages
from .replies import Reply
from .retry import REQUEST_POLICY, RetryPolicy
from .signing import sign_token
from .version import __version__

__all__ = [
    "REQUEST_POLICY",
    "AsyncClient",
    "AsyncPages",
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
]
