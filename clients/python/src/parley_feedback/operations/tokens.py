"""Token validation and public tokens."""

from ..calls import Call, path, post, post_as_public_key
from ..operation import D_co, Resource, operation
from ..types import Inspection, PublicToken


class Tokens(Resource[D_co]):
    """Access tokens. Your backend signs them with `sign_token`."""

    @operation("inspectToken")
    def inspect(self, token: str, *, idempotency_key: str | None = None) -> Call[Inspection]:
        """Validates one of the tenant's access tokens; an invalid token is a result, not an error."""
        return post("/v1/auth/inspect", {"token": token}, idempotency_key)

    @operation("issuePublicToken")
    def issue_public(self, tenant_id: str, *, user_id: str, public_key_id: str) -> Call[PublicToken]:
        """Issues a restricted token for the unverified user `user_id`; for apps without a backend and for tests.

        The request is authenticated by the id of the public key instead of the API key.
        """
        pattern = "/v1/tenants/{tenant_id}/issuers/public/auth/token"
        return post_as_public_key(path(pattern, tenant_id=tenant_id), {"user_id": user_id}, public_key_id)
