<?php

declare(strict_types=1);

namespace Parley;

/** A finished attempt of a call, for logs and metrics. Contains neither credentials nor data of users. */
final class Attempt
{
    /** HTTP status; 0 without a response. */
    public int $status = 0;

    /** Milliseconds from the request to the complete response. */
    public int $durationMs = 0;

    /** ID of the request in the server's log. */
    public ?string $requestId = null;

    /** Failure of the attempt. Its text may quote the request. */
    public ?ParleyException $error = null;

    /** Delay before the next attempt; null if this was the last one. */
    public ?int $retryInMs = null;

    /**
     * @param string $operation `operationId` of the API, such as `patchQuestion`
     * @param int $number number of the attempt, from 1
     */
    public function __construct(
        public readonly string $operation,
        public readonly string $method,
        public readonly int $number,
    ) {
    }
}
