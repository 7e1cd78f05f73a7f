<?php

declare(strict_types=1);

namespace Parley;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/** Everything that comes from outside: the network, the time, chance. Tests bring their own. */
final class Wire
{
    /**
     * @param \Closure(): float $now seconds since 1970
     * @param \Closure(): float $random 0 ≤ x < 1
     * @param \Closure(int): void $sleep for so many milliseconds
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
     * The world as it is, with what is given in place of its parts.
     *
     * @param ClientInterface|null $client must not follow redirects, and should have a time limit: PSR-18 has a setting
     *     for neither. The client that is found without one has both
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
