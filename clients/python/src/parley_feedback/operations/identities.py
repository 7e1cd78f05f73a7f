"""Identities: the users, by their ids in the tenant's system."""

from collections.abc import Sequence

from typing_extensions import Unpack

from ..calls import Call, get, get_page, patch, path, post, put
from ..operation import D_co, Resource, listing, operation
from ..pages import Page
from ..types import (
    CardDecisions,
    IdentityAttributes,
    IdentityItem,
    IdentityPatch,
    IdentityProfile,
    IdentityResults,
    NewIdentity,
    ProfileChange,
)

_ONE = "/v1/identities/{identity}"


class Identities(Resource[D_co]):
    """User profiles. Scopes: `identities:read`, `identities:write`.

    `verified` selects the verified identity of a name (the default) or the unverified one of public access
    tokens.
    """

    @listing("listIdentities")
    def list(
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

    @operation("readIdentity")
    def read(self, identity: str, *, verified: bool | None = None) -> Call[IdentityProfile]:
        """Returns the profile of a user."""
        return get(path(_ONE, identity=identity), {"verified": verified})

    @operation("putIdentity")
    def put(
        self,
        identity: str,
        *,
        verified: bool | None = None,
        if_match: str | None = None,
        **profile: Unpack[NewIdentity],
    ) -> Call[IdentityProfile]:
        """Creates or replaces the profile of a user: `attributes`, `locale`, `platform`, `app_version`."""
        return put(path(_ONE, identity=identity), profile, {"verified": verified}, if_match)

    @operation("patchIdentity")
    def update(
        self,
        identity: str,
        *,
        verified: bool | None = None,
        if_match: str | None = None,
        **changes: Unpack[IdentityPatch],
    ) -> Call[IdentityProfile]:
        """Updates the profile of a user; attributes set to None are removed, others are unchanged."""
        return patch(path(_ONE, identity=identity), changes, {"verified": verified}, if_match)

    @operation("saveIdentities")
    def save(self, identities: Sequence[IdentityItem], *, idempotency_key: str | None = None) -> Call[IdentityResults]:
        """Creates or updates up to 100 users. Each item has its own result, in order.

        Args:
            identities: The users, each with the changes that `update` accepts.
            idempotency_key: Replaces the generated key.
        """
        return post("/v1/identities", {"identities": list(identities)}, idempotency_key)

    @listing("listProfileChanges")
    def list_changes(
        self,
        identity: str,
        *,
        verified: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Call[Page[ProfileChange]]:
        """Lists the last 50 changes of a profile within 90 days, latest first.

        Args:
            identity: The user.
            verified: Verified (True, the default) or unverified (False) identity.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        query = {"verified": verified, "limit": limit, "cursor": cursor}
        return get_page(f"{path(_ONE, identity=identity)}/changes", query)

    @operation("readIdentityAttributes")
    def read_attributes(self) -> Call[IdentityAttributes]:
        """Returns names, types and most frequent values of the attributes in use."""
        return get("/v1/identity-attributes")

    @operation("readCardDecisions")
    def read_card_decisions(
        self,
        identity: str,
        *,
        verified: bool | None = None,
        platform: str | None = None,
        app_version: str | None = None,
        locale: str | None = None,
    ) -> Call[CardDecisions]:
        """Returns which cards a user sees, and why not the others.

        Args:
            identity: The user.
            verified: Verified (True, the default) or unverified (False) identity.
            platform: Platform that the app would send; that of the profile by default, as of the next two.
            app_version: Version of the app.
            locale: Language of the app.
        """
        query = {"verified": verified, "platform": platform, "app_version": app_version, "locale": locale}
        return get(f"{path(_ONE, identity=identity)}/card-decisions", query)
