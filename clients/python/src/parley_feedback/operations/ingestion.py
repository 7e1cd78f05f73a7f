"""Ingestion counters and the quarantine."""

from ..calls import Call, delete, get, get_page, path, post
from ..operation import D_co, Resource, listing, operation
from ..pages import Page
from ..types import Ingestion, QuarantinedAnswer

_ONE = "/v1/quarantine/{id}"


class IngestionCounters(Resource[D_co]):
    """Ingestion of answers. Scope: `answers:read`."""

    @operation("readIngestion")
    def read(self) -> Call[Ingestion]:
        """Returns the tenant's ingestion counters. When idle, accepted = stored + repeated + quarantined + queued."""
        return get("/v1/ingestion")


class Quarantine(Resource[D_co]):
    """Accepted answers that could not be stored. Scopes: `answers:read`, `answers:write`."""

    @listing("listQuarantine")
    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Call[Page[QuarantinedAnswer]]:
        """Lists accepted answers that could not be stored, newest first.

        Args:
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page("/v1/quarantine", {"limit": limit, "cursor": cursor})

    @operation("readQuarantined")
    def read(self, id: str) -> Call[QuarantinedAnswer]:
        """Returns a quarantined answer."""
        return get(path(_ONE, id=id))

    @operation("replayQuarantined")
    def replay(self, id: str, *, idempotency_key: str | None = None) -> Call[QuarantinedAnswer]:
        """Queues a quarantined answer again; it leaves the quarantine once stored."""
        return post(f"{path(_ONE, id=id)}/replay", None, idempotency_key)

    @operation("discardQuarantined")
    def discard(self, id: str) -> Call[None]:
        """Permanently discards a quarantined answer."""
        return delete(path(_ONE, id=id))
