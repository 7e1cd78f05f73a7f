"""The token endpoint in Flask: `flask --app flask_backend run`."""

import os

from flask import Flask, Response, jsonify, request
from session import find_identity

from parley_feedback import sign_token

app = Flask(__name__)

KEY_ID = os.environ["SERVICE_API_KEY_ID"]
SECRET = os.environ["SERVICE_API_KEY_SECRET"]
TENANT_ID = os.environ["SERVICE_TENANT_ID"]


@app.post("/v1/svc/auth/token")
def issue_token() -> Response:
    """Returns a Parley token for the signed-in user."""
    identity = find_identity(request.headers.get("Authorization"))
    if identity is None:
        return Response("Sign in first.", 401, {"WWW-Authenticate": "Bearer"})
    token = sign_token(identity, key_id=KEY_ID, secret=SECRET, tenant_id=TENANT_ID)
    response = jsonify(access_token=token)
    response.headers["Cache-Control"] = "no-store"
    return response
