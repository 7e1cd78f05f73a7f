"""Identities: the users, by their ids in the tenant's system."""

from ..calls import Call, get, get_page, patch, path, put
from ..operation import Listing, Operation
from ..pages import Page
from ..types import IdentityPatch, IdentityProfile, NewIdentity

_ONE = "/v1/identities/{identity}"


class Identities:
    """User profiles. Scopes: `identities:read`, `identities:write`.

    `verified` selects the verified identity of a name (the default) or the unverified one of public access
    tokens.
    """

    @Listing
    def list_identities(
        self,
        *,
        verified: bool | None = None,
        q: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Call[Page[IdentityProfile]]:
        """Lists users, ordered by identity.

        Args:
            verified: Verified (True) or unverified (False) identities; both by default.
            q: Prefix of the identity.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page("/v1/identities", {"verified": verified, "q": q, "limit": limit, "cursor": cursor})

    @Operation
    def read_identity(self, identity: str, *, verified: bool | None = None) -> Call[IdentityProfile]:
        """Returns the profile of a user."""
        return get(path(_ONE, identity=identity), {"verified": verified})

    @Operation
    def put_identity(
        self, identity: str, body: NewIdentity, *, verified: bool | None = None, if_match: str | None = None
    ) -> Call[IdentityProfile]:
        """Creates or replaces the profile of a user."""
        return put(path(_ONE, identity=identity), body, {"verified": verified}, if_match)

    @Operation
    def patch_identity(
        self, identity: str, body: IdentityPatch, *, verified: bool | None = None, if_match: str | None = None
    ) -> Call[IdentityProfile]:
        """Updates the profile of a user; attributes set to None are removed."""
        return patch(path(_ONE, identity=identity), body, {"verified": verified}, if_match)
