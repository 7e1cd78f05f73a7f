"""The signed-in user. Replace this with your application's session or token lookup."""

import os

_SESSIONS = dict(line.split("=", 1) for line in os.environ["SESSIONS"].split(","))


def find_identity(authorization: str | None) -> str | None:
    """Returns the identity of the session's user, or None.

    Here sessions are listed in `SESSIONS` (`token=user,token=user`).
    """
    scheme, _, session = (authorization or "").partition(" ")
    user = _SESSIONS.get(session) if scheme == "Bearer" else None
    return user and f"user|{user}"
