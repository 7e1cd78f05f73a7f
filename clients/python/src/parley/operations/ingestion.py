"""Ingestion counters and the quarantine."""

from ..calls import Call, delete, get, get_page, path, post
from ..operation import Listing, Operation
from ..pages import Page
from ..types import Ingestion, QuarantinedAnswer

_ONE = "/v1/quarantine/{id}"


class Ingesting:
    """Ingestion of answers. Scopes: `answers:read`; for the quarantine `answers:write`."""

    @Operation
    def read_ingestion(self) -> Call[Ingestion]:
        """Returns the tenant's ingestion counters. When idle, accepted = stored + repeated + quarantined + queued."""
        return get("/v1/ingestion")

    @Listing
    def list_quarantine(self, *, limit: int | None = None, cursor: str | None = None) -> Call[Page[QuarantinedAnswer]]:
        """Lists accepted answers that could not be stored, newest first.

        Args:
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page("/v1/quarantine", {"limit": limit, "cursor": cursor})

    @Operation
    def replay_quarantined(self, id: str, *, idempotency_key: str | None = None) -> Call[QuarantinedAnswer]:
        """Queues a quarantined answer again; it leaves the quarantine once stored."""
        return post(f"{path(_ONE, id=id)}/replay", None, idempotency_key)

    @Operation
    def discard_quarantined(self, id: str) -> Call[None]:
        """Permanently discards a quarantined answer."""
        return delete(path(_ONE, id=id))
