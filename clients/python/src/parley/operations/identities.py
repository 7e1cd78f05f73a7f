"""Identities: the users, under the names that they have in the tenant's own system."""

from ..calls import Call, get, get_page, patch, path, put
from ..operation import Listing, Operation
from ..pages import Page
from ..types import IdentityPatch, IdentityProfile, NewIdentity

_ONE = "/v1/identities/{identity}"


class Identities:
    """What is known of users. Scopes: `identities:read`, `identities:write`.

    `verified` picks the proven identity of a name (which it does unless given), or the claimed one of public access
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
        """Lists the users that are known, in the order of their identities.

        Args:
            verified: Proven identities, or claimed ones; both unless given.
            q: The beginning of the identity.
            limit: The size of a page, 1 to 100; 10 unless given.
            cursor: The `next_cursor` of a page, to begin behind it.
        """
        return get_page("/v1/identities", {"verified": verified, "q": q, "limit": limit, "cursor": cursor})

    @Operation
    def read_identity(self, identity: str, *, verified: bool | None = None) -> Call[IdentityProfile]:
        """Says what is known of a user."""
        return get(path(_ONE, identity=identity), {"verified": verified})

    @Operation
    def put_identity(
        self, identity: str, body: NewIdentity, *, verified: bool | None = None, if_match: str | None = None
    ) -> Call[IdentityProfile]:
        """Says everything of a user anew; one that is not known yet becomes so."""
        return put(path(_ONE, identity=identity), body, {"verified": verified}, if_match)

    @Operation
    def patch_identity(
        self, identity: str, body: IdentityPatch, *, verified: bool | None = None, if_match: str | None = None
    ) -> Call[IdentityProfile]:
        """Changes some of what is said of a user; an attribute that is None goes."""
        return patch(path(_ONE, identity=identity), body, {"verified": verified}, if_match)
