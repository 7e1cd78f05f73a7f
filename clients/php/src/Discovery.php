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
 * The HTTP client that the application has already. Without `php-http/discovery`, as on Debian, whose packages lack it,
 * that is Guzzle.
 */
final class Discovery
{
    /** How long one attempt may take. Most clients wait for ever unless they are told. */
    public const TIMEOUT_S = 30;

    /** A client with a time limit and without redirects, where it is one of those that we know how to tell. */
    public static function client(): ClientInterface
    {
        $found = class_exists(Psr18ClientDiscovery::class) ? Psr18ClientDiscovery::find() : new Guzzle();
        return match (true) {
            $found::class === Guzzle::class => new Guzzle(['timeout' => self::TIMEOUT_S]), // for PSR-18 it never follows
            $found instanceof Symfony => $found->withOptions(['max_duration' => self::TIMEOUT_S, 'max_redirects' => 0]),
            default => $found,
        };
    }

    /** What makes requests and their bodies. */
    public static function messages(): RequestFactoryInterface&StreamFactoryInterface
    {
        return class_exists(Psr17Factory::class) ? new Psr17Factory() : new HttpFactory();
    }
}
