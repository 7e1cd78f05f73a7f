<?php

declare(strict_types=1);

namespace Parley;

/** Retry policy with exponential backoff. Default: four attempts within seconds. */
final class RetryPolicy
{
    /**
     * @param int|null $retries maximum number of retries; null for no limit, for queue workers
     * @param int $longestRetryAfterMs maximum honored `Retry-After`
     */
    public function __construct(
        public readonly ?int $retries = 3,
        public readonly int $baseMs = 500,
        public readonly int $capMs = 8_000,
        public readonly int $longestRetryAfterMs = 30_000,
    ) {
    }

    /**
     * Returns the delay in milliseconds before a retry (counted from 1), with full jitter to spread clients; null to give
     * up.
     *
     * @param float $random 0 ≤ x < 1
     * @param int|null $retryAfterMs delay requested by the server
     */
    public function delayBefore(int $retry, float $random, ?int $retryAfterMs): ?int
    {
        if ($this->retries !== null && $retry > $this->retries) {
            return null;
        }
        if ($retryAfterMs === null) {
            return (int) floor($random * min($this->capMs, $this->baseMs * 2 ** min($retry - 1, 30)));
        }
        if ($this->retries !== null && $retryAfterMs > $this->longestRetryAfterMs) {
            return null;
        }
        return min($retryAfterMs, $this->longestRetryAfterMs) + (int) floor($random * $this->baseMs);
    }
}
