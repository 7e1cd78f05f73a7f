"""Webhooks and their deliveries."""

from collections.abc import Sequence
from datetime import datetime

from typing_extensions import Unpack

from ..calls import Call, as_text, delete, get, get_page, patch, path, post
from ..operation import D_co, Resource, listing, operation
from ..pages import Page
from ..types import (
    Delivery,
    DeliveryStatus,
    EventType,
    NewWebhook,
    ReplayCount,
    Webhook,
    WebhookPatch,
    WebhookRotation,
)

_ALL = "/v1/webhooks"
_ONE = "/v1/webhooks/{id}"


class Webhooks(Resource[D_co]):
    """Webhooks and their deliveries. Scope: `webhooks:manage`."""

    @listing("listWebhooks")
    def list(self, *, limit: int | None = None, cursor: str | None = None) -> Call[Page[Webhook]]:
        """Lists webhooks, oldest first.

        Args:
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        return get_page(_ALL, {"limit": limit, "cursor": cursor})

    @operation("createWebhook")
    def create(self, *, idempotency_key: str | None = None, **webhook: Unpack[NewWebhook]) -> Call[Webhook]:
        """Creates a webhook that sends the events from now on. Its `secret` is returned only once."""
        return post(_ALL, webhook, idempotency_key)

    @operation("readWebhook")
    def read(self, id: str) -> Call[Webhook]:
        """Returns a webhook, without its secret."""
        return get(path(_ONE, id=id))

    @operation("patchWebhook")
    def update(self, id: str, *, if_match: str | None = None, **changes: Unpack[WebhookPatch]) -> Call[Webhook]:
        """Changes, disables or enables a webhook."""
        return patch(path(_ONE, id=id), changes, if_match=if_match)

    @operation("deleteWebhook")
    def delete(self, id: str, *, if_match: str | None = None) -> Call[None]:
        """Deletes a webhook. Its undelivered events stay in the feed."""
        return delete(path(_ONE, id=id), if_match)

    @operation("rotateWebhookSecret")
    def rotate_secret(
        self,
        id: str,
        *,
        if_match: str | None = None,
        idempotency_key: str | None = None,
        **rotation: Unpack[WebhookRotation],
    ) -> Call[Webhook]:
        """Returns the webhook with a new `secret`, only once. For `overlap_hours` requests are signed with both."""
        return post(path(_ONE + "/rotate-secret", id=id), rotation, idempotency_key, if_match)

    @operation("testWebhook")
    def test(self, id: str, *, idempotency_key: str | None = None) -> Call[Delivery]:
        """Sends a test event once. Its outcome is in the list of deliveries within seconds."""
        return post(path(_ONE + "/test", id=id), None, idempotency_key)

    @listing("listDeliveries")
    def list_deliveries(
        self,
        id: str,
        *,
        status: DeliveryStatus | Sequence[DeliveryStatus] | None = None,
        after: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> Call[Page[Delivery]]:
        """Lists the attempts of a webhook, newest first. They are kept for 30 days.

        Args:
            id: `webhook_…`.
            status: Attempts with this outcome; those that are `waiting` are still to come.
            after: Only of events after this `sequence`.
            limit: Page size, 1 to 100; defaults to 10.
            cursor: The `next_cursor` of the previous page.
        """
        query = {"status": status, "after": after, "limit": limit, "cursor": cursor}
        return get_page(path(_ONE + "/deliveries", id=id), query)

    @operation("readDelivery")
    def read_delivery(self, id: str, delivery_id: str) -> Call[Delivery]:
        """Returns an attempt of a webhook, past or still to come."""
        return get(path(_ONE + "/deliveries/{delivery_id}", id=id, delivery_id=delivery_id))

    @operation("replayDelivery")
    def replay_delivery(self, id: str, delivery_id: str, *, idempotency_key: str | None = None) -> Call[Delivery]:
        """Sends the event of a delivery again, under its `webhook-id`, with the object as it is now."""
        where = path(_ONE + "/deliveries/{delivery_id}/replay", id=id, delivery_id=delivery_id)
        return post(where, None, idempotency_key)

    @operation("replayDeliveries")
    def replay(
        self,
        id: str,
        *,
        from_: datetime | str,
        to: datetime | str | None = None,
        types: Sequence[EventType] | None = None,
        idempotency_key: str | None = None,
    ) -> Call[ReplayCount]:
        """Sends the events of a range of time again, under their `webhook-id`. Returns their number.

        Args:
            id: `webhook_…`.
            from_: Start of the range.
            to: End of the range; now by default.
            types: Types of events; those of the webhook by default.
            idempotency_key: Sent with every attempt; generated unless given.
        """
        body: dict[str, object] = {"from": as_text("from_", from_)}
        if to is not None:
            body["to"] = as_text("to", to)
        if types is not None:
            body["types"] = types
        return post(path(_ONE + "/replay", id=id), body, idempotency_key)
