<?php

declare(strict_types=1);

namespace Parley;

use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;

/** External dependencies: network, clock and random numbers. Replaceable in tests. */
final class Wire
{
    /** The process that opened the client; false if PHP does not report it. */
    private int|false $process;

    /** @var list<ClientInterface> clients of the processes above this one, kept since destroying one ends its connections */
    private array $inherited = [];

    /**
     * @param (\Closure(): ClientInterface)|null $connect opens a client for a forked process; null for a given client
     * @param \Closure(): float $now seconds since 1970
     * @param \Closure(): float $random 0 ≤ x < 1
     * @param \Closure(int): void $sleep sleeps for a number of milliseconds
     */
    private function __construct(
        private ClientInterface $client,
        private readonly ?\Closure $connect,
        public readonly RequestFactoryInterface $requests,
        public readonly StreamFactoryInterface $streams,
        public readonly \Closure $now,
        public readonly \Closure $random,
        public readonly \Closure $sleep,
    ) {
        $this->process = self::process();
    }

    /**
     * Returns the HTTP client. A forked process gets its own, since processes that share a connection read the responses of
     * each other's requests. A given client is always returned.
     */
    public function client(): ClientInterface
    {
        if ($this->connect !== null && $this->process !== self::process()) {
            $this->inherited[] = $this->client;
            $this->client = ($this->connect)();
            $this->process = self::process();
        }
        return $this->client;
    }

    /**
     * Creates the defaults with overrides.
     *
     * @param ClientInterface|null $client must not follow redirects and should have a timeout; PSR-18 cannot set
     *     either. The automatically discovered client has both. Give one only to processes that do not fork afterwards
     * @param (\Closure(): float)|null $now
     * @param (\Closure(): float)|null $random
     * @param (\Closure(int): void)|null $sleep
     * @param bool $usesProxies whether the discovered client uses the proxies of the environment; `ServerClient` uses them
     *     only with TLS, since otherwise a proxy could read the key
     */
    public static function open(
        ?ClientInterface $client = null,
        ?RequestFactoryInterface $requests = null,
        ?StreamFactoryInterface $streams = null,
        ?\Closure $now = null,
        ?\Closure $random = null,
        ?\Closure $sleep = null,
        bool $usesProxies = true,
    ): self {
        $connect = $client === null ? static fn (): ClientInterface => Discovery::client($usesProxies) : null;
        return new self(
            $client ?? Discovery::client($usesProxies),
            $connect,
            $requests ?? Discovery::messages(),
            $streams ?? Discovery::messages(),
            $now ?? static fn (): float => microtime(true),
            // not mt_rand, whose seed forked processes share
            $random ?? static fn (): float => random_int(0, mt_getrandmax()) / (mt_getrandmax() + 1),
            $sleep ?? static function (int $milliseconds): void {
                usleep($milliseconds * 1000);
            },
        );
    }

    private static function process(): int|false
    {
        return function_exists('getmypid') ? getmypid() : false; // some hosts disable it
    }
}
