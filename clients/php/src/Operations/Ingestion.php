<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * What becomes of accepted answers.
 *
 * @phpstan-import-type Ingestion from Shapes as IngestionFigures
 * @phpstan-import-type QuarantinedAnswer from Shapes
 */
trait Ingestion
{
    /**
     * How many answers are where. At rest: accepted = stored + repeated + quarantined + queued.
     *
     * @return IngestionFigures
     */
    public function readIngestion(): array
    {
        /** @var IngestionFigures */
        return $this->read('/v1/ingestion');
    }

    /**
     * Accepted answers that could not be stored, each with its reason.
     *
     * @param array{limit?: int, cursor?: string} $query
     * @return Listing<QuarantinedAnswer>
     */
    public function listQuarantine(array $query = []): Listing
    {
        /** @var Listing<QuarantinedAnswer> */
        return $this->list('/v1/quarantine', $query);
    }

    /**
     * Sends one through the queue again.
     *
     * @return QuarantinedAnswer
     */
    public function replayQuarantined(string $id, ?string $idempotencyKey = null): array
    {
        /** @var QuarantinedAnswer */
        return $this->post(Path::fill('/v1/quarantine/{id}/replay', $id), null, $idempotencyKey);
    }

    /** Gives one up, for good. */
    public function discardQuarantined(string $id): void
    {
        $this->delete(Path::fill('/v1/quarantine/{id}', $id));
    }
}
