<?php

declare(strict_types=1);

namespace Parley;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/** External dependencies: network, clock and random numbers. Replaceable in tests. */
final class Wire
{
    /**
     * @param \Closure(): float $now seconds since 1970
     * @param \Closure(): float $random 0 ≤ x < 1
     * @param \Closure(int): void $sleep sleeps for a number of milliseconds
     */
    private function __construct(
        public readonly ClientInterface $client,
        public readonly RequestFactoryInterface $requests,
        public readonly StreamFactoryInterface $streams,
        public readonly \Closure $now,
        public readonly \Closure $random,
        public readonly \Closure $sleep,
    ) {
    }

    /**
     * Creates the defaults with overrides.
     *
     * @param ClientInterface|null $client must not follow redirects and should have a timeout; PSR-18 cannot set
     *     either. The automatically discovered client has both
     * @param (\Closure(): float)|null $now
     * @param (\Closure(): float)|null $random
     * @param (\Closure(int): void)|null $sleep
     */
    public static function open(
        ?ClientInterface $client = null,
        ?RequestFactoryInterface $requests = null,
        ?StreamFactoryInterface $streams = null,
        ?\Closure $now = null,
        ?\Closure $random = null,
        ?\Closure $sleep = null,
    ): self {
        return new self(
            $client ?? Discovery::client(),
            $requests ?? Discovery::messages(),
            $streams ?? Discovery::messages(),
            $now ?? static fn (): float => microtime(true),
            $random ?? static fn (): float => mt_rand() / (mt_getrandmax() + 1),
            $sleep ?? static function (int $milliseconds): void {
                usleep($milliseconds * 1000);
            },
        );
    }
}
