"""Access tokens for the tenant's users."""

import time
import unicodedata
from typing import Any

from .errors import InvalidArgument

LIFETIME_SECONDS = 3600
"""Maximum token lifetime in seconds (specification 5.3)."""

_HEADER = {"typ": "JWT", "cty": "svc-fpa;v=1"}


def sign_token(
    identity: str,
    *,
    key_id: str,
    secret: str,
    tenant_id: str,
    lifetime_seconds: int = LIFETIME_SECONDS,
    now: float | None = None,
) -> str:
    """Signs an access token with which an app acts as one of your users (specification 5.3).

    Needs the extra `signing`, which installs PyJWT.

    Args:
        identity: User id in your system, 1 to 256 characters in NFC; pass integer ids as strings.
        key_id: ID of a server key, `key_…`.
        secret: Secret of that key, not its bearer value, which starts with `sk_`.
        tenant_id: `tenant_…`.
        lifetime_seconds: 1 to 3600.
        now: Current time in seconds since 1970; defaults to the system clock.

    Raises:
        InvalidArgument: Names the argument; never contains the secret.
    """
    _check(identity, key_id, secret, tenant_id, lifetime_seconds)
    claims = {
        "iss": key_id,
        "sub": tenant_id,
        "exp": int(time.time() if now is None else now) + lifetime_seconds,
        "grants": {"identity": identity},
    }
    return _encode(claims, secret)


def _encode(claims: dict[str, Any], secret: str) -> str:
    try:
        import jwt
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "sign_token needs PyJWT: install parley-feedback[signing], or PyJWT itself", name="jwt"
        ) from error
    return jwt.encode(  # pyright: ignore[reportUnknownMemberType]  PyJWT's types need cryptography
        claims, secret, algorithm="HS256", headers=_HEADER
    )


def _check(identity: str, key_id: str, secret: str, tenant_id: str, lifetime_seconds: int) -> None:
    if not isinstance(identity, str):
        raise InvalidArgument("identity", "must be a string; send an integer id as one")
    if not 1 <= len(identity) <= 256:
        raise InvalidArgument("identity", "must have 1 to 256 characters")
    if any(unicodedata.category(sign) in {"Cc", "Cs"} for sign in identity):
        raise InvalidArgument("identity", "must not contain control characters or lone surrogates")
    if not unicodedata.is_normalized("NFC", identity):
        raise InvalidArgument("identity", "must be in Unicode normalization form C (NFC)")
    if not _starts_with("", secret) or secret.startswith("sk_"):
        raise InvalidArgument("secret", "must be the secret of the key, not its bearer value")
    if not _starts_with("key_", key_id):
        raise InvalidArgument("key_id", "must be the id of a server key, which starts with key_")
    if not _starts_with("tenant_", tenant_id):
        raise InvalidArgument("tenant_id", "must be the id of the tenant, which starts with tenant_")
    if not isinstance(lifetime_seconds, int) or not 1 <= lifetime_seconds <= LIFETIME_SECONDS:
        raise InvalidArgument("lifetime_seconds", "must be a whole number from 1 to 3600")


def _starts_with(prefix: str, value: object) -> bool:
    """Also checks the type: unset environment variables are None."""
    return isinstance(value, str) and value != "" and value.startswith(prefix)
