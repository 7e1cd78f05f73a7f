<?php

declare(strict_types=1);

namespace Parley;

/** How often and how long after each other a call is tried again. The default: four attempts within seconds. */
final class RetryPolicy
{
    /**
     * @param int|null $retries how many at most after the first attempt; null: without an end, for a queue's worker
     * @param int $longestRetryAfterMs the longest `Retry-After` that is waited for
     */
    public function __construct(
        public readonly ?int $retries = 3,
        public readonly int $baseMs = 500,
        public readonly int $capMs = 8_000,
        public readonly int $longestRetryAfterMs = 30_000,
    ) {
    }

    /**
     * The milliseconds before a retry (the first is 1), with full jitter so that clients don't return together; null: it
     * is given up.
     *
     * @param float $random 0 ≤ x < 1
     * @param int|null $retryAfterMs what the server asked for
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
