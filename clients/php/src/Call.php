<?php

declare(strict_types=1);

namespace Parley;

/** A request of an operation, identical for every attempt. */
final class Call
{
    /**
     * @param string $operation `operationId` of the API
     * @param array<string, mixed> $query
     * @param array<string, mixed>|null $body null without a body
     * @param string|null $ifMatch expected ETag of the resource
     * @param string|null $idempotencyKey idempotency key, or null without a key
     */
    public function __construct(
        public readonly string $operation,
        public readonly string $method,
        public readonly string $path,
        public readonly array $query = [],
        public readonly ?array $body = null,
        public readonly ?string $ifMatch = null,
        public readonly ?string $idempotencyKey = null,
    ) {
    }
}
