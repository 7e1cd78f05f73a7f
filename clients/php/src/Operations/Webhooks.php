<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * Webhooks and their deliveries.
 *
 * @phpstan-import-type Delivery from Shapes
 * @phpstan-import-type DeliveryQuery from Shapes
 * @phpstan-import-type NewWebhook from Shapes
 * @phpstan-import-type Webhook from Shapes
 * @phpstan-import-type WebhookPatch from Shapes
 * @phpstan-import-type WebhookReplay from Shapes
 */
trait Webhooks
{
    /**
     * Lists webhooks, oldest first.
     *
     * @param array{limit?: int, cursor?: string} $query
     * @return Listing<Webhook>
     */
    public function listWebhooks(array $query = []): Listing
    {
        /** @var Listing<Webhook> */
        return $this->list(__FUNCTION__, '/v1/webhooks', $query);
    }

    /**
     * Creates a webhook that sends the events from now on. Its `secret` is returned only once.
     *
     * @param NewWebhook $body
     * @return Webhook
     */
    public function createWebhook(array $body, ?string $idempotencyKey = null): array
    {
        /** @var Webhook */
        return $this->post(__FUNCTION__, '/v1/webhooks', $body, $idempotencyKey);
    }

    /**
     * @param-out string|null $etag for `ifMatch`
     * @return Webhook
     */
    public function readWebhook(string $id, ?string &$etag = null): array
    {
        /** @var Webhook */
        return $this->read(__FUNCTION__, Path::fill('/v1/webhooks/{id}', $id), etag: $etag);
    }

    /**
     * Changes, disables or enables a webhook.
     *
     * @param WebhookPatch $body
     * @return Webhook
     */
    public function patchWebhook(string $id, array $body, ?string $ifMatch = null): array
    {
        /** @var Webhook */
        return $this->change(__FUNCTION__, 'PATCH', Path::fill('/v1/webhooks/{id}', $id), $body, ifMatch: $ifMatch);
    }

    /** Deletes a webhook. Its undelivered events stay in the feed. */
    public function deleteWebhook(string $id, ?string $ifMatch = null): void
    {
        $this->delete(__FUNCTION__, Path::fill('/v1/webhooks/{id}', $id), $ifMatch);
    }

    /**
     * Returns the webhook with a new `secret`, only once. For `overlap_hours` (24) requests are signed with both.
     *
     * @param array{overlap_hours?: int|float} $body
     * @return Webhook
     */
    public function rotateWebhookSecret(
        string $id,
        array $body = [],
        ?string $idempotencyKey = null,
        ?string $ifMatch = null,
    ): array {
        $path = Path::fill('/v1/webhooks/{id}/rotate-secret', $id);
        /** @var Webhook */
        return $this->post(__FUNCTION__, $path, $body, $idempotencyKey, $ifMatch);
    }

    /**
     * Sends a test event once. Its outcome is in the list of deliveries within seconds.
     *
     * @return Delivery
     */
    public function testWebhook(string $id, ?string $idempotencyKey = null): array
    {
        /** @var Delivery */
        return $this->post(__FUNCTION__, Path::fill('/v1/webhooks/{id}/test', $id), null, $idempotencyKey);
    }

    /**
     * Lists the attempts of a webhook, newest first. They are kept for 30 days.
     *
     * @param DeliveryQuery $query
     * @return Listing<Delivery>
     */
    public function listDeliveries(string $id, array $query = []): Listing
    {
        /** @var Listing<Delivery> */
        return $this->list(__FUNCTION__, Path::fill('/v1/webhooks/{id}/deliveries', $id), $query);
    }

    /**
     * Returns an attempt of a webhook, past or still to come.
     *
     * @return Delivery
     */
    public function readDelivery(string $id, string $deliveryId): array
    {
        /** @var Delivery */
        return $this->read(__FUNCTION__, Path::fill('/v1/webhooks/{id}/deliveries/{delivery_id}', $id, $deliveryId));
    }

    /**
     * Sends the event of a delivery again, under its `webhook-id`, with the object as it is now.
     *
     * @return Delivery
     */
    public function replayDelivery(string $id, string $deliveryId, ?string $idempotencyKey = null): array
    {
        $path = Path::fill('/v1/webhooks/{id}/deliveries/{delivery_id}/replay', $id, $deliveryId);
        /** @var Delivery */
        return $this->post(__FUNCTION__, $path, null, $idempotencyKey);
    }

    /**
     * Sends the events of a range of time again, under their `webhook-id`. Returns their number.
     *
     * @param WebhookReplay $body
     * @return array{count: int}
     */
    public function replayDeliveries(string $id, array $body, ?string $idempotencyKey = null): array
    {
        $path = Path::fill('/v1/webhooks/{id}/replay', $id);
        /** @var array{count: int} */
        return $this->post(__FUNCTION__, $path, $body, $idempotencyKey);
    }
}
