"""Where answers are on their way, and those that were set aside."""

from ..calls import Call, delete, get, get_page, path, post
from ..operation import Listing, Operation
from ..pages import Page
from ..types import Ingestion, QuarantinedAnswer

_ONE = "/v1/quarantine/{id}"


class Ingesting:
    """The way of answers into the database. Scopes: `answers:read`; for the quarantine `answers:write`."""

    @Operation
    def read_ingestion(self) -> Call[Ingestion]:
        """Says where the tenant's answers are. At rest accepted = stored + repeated + quarantined + queued."""
        return get("/v1/ingestion")

    @Listing
    def list_quarantine(self, *, limit: int | None = None, cursor: str | None = None) -> Call[Page[QuarantinedAnswer]]:
        """Lists the accepted answers that could not be stored, newest first.

        Args:
            limit: The size of a page, 1 to 100; 10 unless given.
            cursor: The `next_cursor` of a page, to begin behind it.
        """
        return get_page("/v1/quarantine", {"limit": limit, "cursor": cursor})

    @Operation
    def replay_quarantined(self, id: str, *, idempotency_key: str | None = None) -> Call[QuarantinedAnswer]:
        """Sends a quarantined answer through the queue again; it leaves the quarantine when it was stored."""
        return post(f"{path(_ONE, id=id)}/replay", None, idempotency_key)

    @Operation
    def discard_quarantined(self, id: str) -> Call[None]:
        """Discards a quarantined answer for good."""
        return delete(path(_ONE, id=id))
