<?php

declare(strict_types=1);

namespace Parley;

use GuzzleHttp\Client as Guzzle;
use GuzzleHttp\Psr7\HttpFactory;
use Http\Discovery\Psr17Factory;
use Http\Discovery\Psr18ClientDiscovery;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\StreamFactoryInterface;
use Symfony\Component\HttpClient\Psr18Client as Symfony;

/**
 * Finds the application's HTTP client. Without `php-http/discovery` (not packaged in Debian), this is Guzzle.
 */
final class Discovery
{
    /** Timeout of one attempt. Most clients have no timeout by default. */
    public const TIMEOUT_S = 30;

    /**
     * Returns the application's client with a timeout and without redirects, if it is a supported one.
     *
     * @param bool $usesProxies whether it uses the proxies of the environment
     */
    public static function client(bool $usesProxies = true): ClientInterface
    {
        $found = class_exists(Psr18ClientDiscovery::class) ? Psr18ClientDiscovery::find() : new Guzzle();
        return self::configure($found, $usesProxies);
    }

    /** Returns a client like the found one, with a timeout and without redirects, if it is a supported one. */
    public static function configure(ClientInterface $found, bool $usesProxies = true): ClientInterface
    {
        $forGuzzle = ['timeout' => self::TIMEOUT_S] + ($usesProxies ? [] : ['proxy' => '']); // never follows redirects with PSR-18
        $forSymfony = ['max_duration' => self::TIMEOUT_S, 'max_redirects' => 0] + ($usesProxies ? [] : ['no_proxy' => '*']);
        return match (true) {
            $found::class === Guzzle::class => new Guzzle($forGuzzle),
            $found instanceof Symfony => $found->withOptions($forSymfony),
            default => $found,
        };
    }

    /** Factories for requests and bodies. */
    public static function messages(): RequestFactoryInterface&StreamFactoryInterface
    {
        return class_exists(Psr17Factory::class) ? new Psr17Factory() : new HttpFactory();
    }
}
