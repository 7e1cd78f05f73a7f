"""Prints an access token for the identity that is the first argument."""

import os
import sys
import time

import jwt

print(
    jwt.encode(
        {
            "iss": os.environ["SERVICE_API_KEY_ID"],
            "sub": os.environ["SERVICE_TENANT_ID"],
            "exp": int(time.time()) + 3600,
            "grants": {"identity": sys.argv[1]},
        },
        os.environ["SERVICE_API_KEY_SECRET"],
        algorithm="HS256",
        headers={"typ": "JWT", "cty": "svc-fpa;v=1"},
    )
)
