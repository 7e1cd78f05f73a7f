"""Token validation and public tokens."""

from ..calls import Call, path, post, post_as_public_key
from ..operation import Operation
from ..types import Inspection, InspectRequest, PublicToken, PublicTokenRequest


class Tokens:
    """Access tokens. Your backend signs them with `parley.sign_token`."""

    @Operation
    def inspect_token(self, body: InspectRequest, *, idempotency_key: str | None = None) -> Call[Inspection]:
        """Validates one of the tenant's access tokens; an invalid token is a result, not an error."""
        return post("/v1/auth/inspect", body, idempotency_key)

    @Operation
    def issue_public_token(self, tenant_id: str, body: PublicTokenRequest, *, public_key_id: str) -> Call[PublicToken]:
        """Issues a restricted token for an unverified user; for apps without a backend and for tests.

        The request is authenticated by the id of the public key instead of the API key.
        """
        pattern = "/v1/tenants/{tenant_id}/issuers/public/auth/token"
        return post_as_public_key(path(pattern, tenant_id=tenant_id), body, public_key_id)
