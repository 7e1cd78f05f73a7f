# Prints whether the public package accepts each case of webhooks.json, read from standard input.
import base64
import json
import sys
from datetime import datetime, timezone

from standardwebhooks import webhooks

asked = json.load(sys.stdin)


class Clock(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.fromtimestamp(asked["now"], tz=timezone.utc)


webhooks.datetime = Clock


def accepts(secret, case):
    body = base64.b64decode(case["body_base64"]) if "body_base64" in case else case["body"]
    try:
        webhooks.Webhook(secret).verify(body, case["headers"], json_parse=False)
        return True
    except Exception:
        return False


print(json.dumps([any(accepts(secret, case) for secret in case["secrets"]) for case in asked["cases"]]))
