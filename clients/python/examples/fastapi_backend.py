"""The token endpoint in FastAPI: `uvicorn fastapi_backend:app`."""

import os
from typing import Annotated

from fastapi import FastAPI, Header, HTTPException, Response
from session import find_identity

from parley_feedback import sign_token

app = FastAPI()

KEY_ID = os.environ["SERVICE_API_KEY_ID"]
SECRET = os.environ["SERVICE_API_KEY_SECRET"]
TENANT_ID = os.environ["SERVICE_TENANT_ID"]


@app.post("/v1/svc/auth/token")
def issue_token(response: Response, authorization: Annotated[str | None, Header()] = None) -> dict[str, str]:
    """Returns a Parley token for the signed-in user."""
    identity = find_identity(authorization)
    if identity is None:
        raise HTTPException(401, "Sign in first.", {"WWW-Authenticate": "Bearer"})
    response.headers["Cache-Control"] = "no-store"
    return {"access_token": sign_token(identity, key_id=KEY_ID, secret=SECRET, tenant_id=TENANT_ID)}
