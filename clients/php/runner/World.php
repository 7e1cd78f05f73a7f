<?php

declare(strict_types=1);

namespace Parley\Runner;

use Parley\RetryPolicy;
use Parley\ServerClient;
use Parley\TokenSigner;

/** Environment of a part. */
final class World
{
    private function __construct(
        public readonly ServerClient $parley,
        public readonly TokenSigner $signer,
        public readonly Journal $journal,
    ) {
    }

    /** @param bool $isLossy whether responses get lost: calls are then retried without limit */
    public static function open(bool $isLossy): self
    {
        $retries = $isLossy ? null : 3;
        $policy = new RetryPolicy($retries, (int) self::setting('PARLEY_RETRY_BASE_MS'));
        return new self(
            new ServerClient(self::setting('SERVICE_BASE_URL'), self::setting('SERVICE_API_KEY'), $policy),
            new TokenSigner(
                self::setting('SERVICE_API_KEY_ID'),
                self::setting('SERVICE_API_KEY_SECRET'),
                self::setting('SERVICE_TENANT_ID'),
            ),
            Journal::open(self::setting('PARLEY_STATE') . '/journal'),
        );
    }

    private static function setting(string $name): string
    {
        $value = getenv($name);
        return is_string($value) ? $value : throw new \RuntimeException("$name is not set.");
    }
}
