<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * Ingestion of answers and the quarantine.
 *
 * @phpstan-import-type Ingestion from Shapes as IngestionFigures
 * @phpstan-import-type QuarantinedAnswer from Shapes
 */
trait Ingestion
{
    /**
     * Returns the ingestion counters. When idle: accepted = stored + repeated + quarantined + queued.
     *
     * @return IngestionFigures
     */
    public function readIngestion(): array
    {
        /** @var IngestionFigures */
        return $this->read(__FUNCTION__, '/v1/ingestion');
    }

    /**
     * Lists accepted answers that could not be stored, with the reason.
     *
     * @param array{limit?: int, cursor?: string} $query
     * @return Listing<QuarantinedAnswer>
     */
    public function listQuarantine(array $query = []): Listing
    {
        /** @var Listing<QuarantinedAnswer> */
        return $this->list(__FUNCTION__, '/v1/quarantine', $query);
    }

    /**
     * Returns a quarantined answer.
     *
     * @return QuarantinedAnswer
     */
    public function readQuarantined(string $id): array
    {
        /** @var QuarantinedAnswer */
        return $this->read(__FUNCTION__, Path::fill('/v1/quarantine/{id}', $id));
    }

    /**
     * Queues a quarantined answer again.
     *
     * @return QuarantinedAnswer
     */
    public function replayQuarantined(string $id, ?string $idempotencyKey = null): array
    {
        /** @var QuarantinedAnswer */
        return $this->post(__FUNCTION__, Path::fill('/v1/quarantine/{id}/replay', $id), null, $idempotencyKey);
    }

    /** Permanently discards a quarantined answer. */
    public function discardQuarantined(string $id): void
    {
        $this->delete(__FUNCTION__, Path::fill('/v1/quarantine/{id}', $id));
    }
}
