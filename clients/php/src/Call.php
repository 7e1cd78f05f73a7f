<?php

declare(strict_types=1);

namespace Parley;

/** A request as an operation describes it; every attempt of it is the same. */
final class Call
{
    /**
     * @param array<string, mixed> $query
     * @param array<string, mixed>|null $body null: none
     * @param string|null $ifMatch only if the resource still has this entity tag
     * @param string|null $idempotencyKey by which the server knows the call again; null: none
     */
    public function __construct(
        public readonly string $method,
        public readonly string $path,
        public readonly array $query = [],
        public readonly ?array $body = null,
        public readonly ?string $ifMatch = null,
        public readonly ?string $idempotencyKey = null,
    ) {
    }
}
