"""Who is logged in. Replace this by what your application has already: its session, its own tokens."""

import os

_SESSIONS = dict(line.split("=", 1) for line in os.environ["SESSIONS"].split(","))


def find_identity(authorization: str | None) -> str | None:
    """Gives the identity of the user whose session it is; None without one.

    Here a session is a line of `SESSIONS` (`token=user,token=user`).
    """
    scheme, _, session = (authorization or "").partition(" ")
    user = _SESSIONS.get(session) if scheme == "Bearer" else None
    return user and f"user|{user}"
