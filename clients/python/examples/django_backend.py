"""The token endpoint in Django, in one file: `python django_backend.py runserver`."""

import os
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from session import find_identity

from parley_feedback import sign_token

KEY_ID = os.environ["SERVICE_API_KEY_ID"]
SECRET = os.environ["SERVICE_API_KEY_SECRET"]
TENANT_ID = os.environ["SERVICE_TENANT_ID"]

settings.configure(ROOT_URLCONF=__name__, ALLOWED_HOSTS=["localhost", "127.0.0.1"])


@csrf_exempt  # cookies are not used, so cross-site requests cannot act as the user
@require_POST
def issue_token(request: HttpRequest) -> HttpResponse:
    """Returns a Parley token for the signed-in user."""
    identity = find_identity(request.headers.get("Authorization"))
    if identity is None:
        return HttpResponse("Sign in first.", status=401, headers={"WWW-Authenticate": "Bearer"})
    token = sign_token(identity, key_id=KEY_ID, secret=SECRET, tenant_id=TENANT_ID)
    return JsonResponse({"access_token": token}, headers={"Cache-Control": "no-store"})


urlpatterns = [path("v1/svc/auth/token", issue_token)]

if __name__ == "__main__":
    execute_from_command_line(sys.argv)
