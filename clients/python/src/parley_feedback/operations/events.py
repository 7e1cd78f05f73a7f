"""The feed of events."""

from collections.abc import Sequence

from ..calls import Call, get_page
from ..operation import D_co, Resource, listing
from ..pages import Page
from ..types import Event, EventType


class Events(Resource[D_co]):
    """The events of the tenant. Scope: `events:read`."""

    @listing("readEvents")
    def read(
        self,
        *,
        after: int | None = None,
        types: Sequence[EventType] | None = None,
        limit: int | None = None,
        expand: bool | None = None,
    ) -> Call[Page[Event]]:
        """Reads events in order, without gaps, up to the newest. They are kept for 30 days.

        Args:
            after: Only events after this `sequence`; without it, from the oldest one on. `events-expired` if these are
                no longer kept.
            types: Only events of these types.
            limit: Page size, 1 to 100; defaults to 10.
            expand: Adds `data.object`, the object as it is now.
        """
        return get_page("/v1/events", {"after": after, "types": types, "limit": limit, "expand": expand})
