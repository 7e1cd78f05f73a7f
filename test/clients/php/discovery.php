<?php

/** What the client uses of `php-http/discovery`, of which Debian has no package, for PHPStan. It is not executed. */

declare(strict_types=1);

namespace Http\Discovery;

use Nyholm\Psr7\Factory\Psr17Factory as Nyholm;
use Psr\Http\Client\ClientInterface;

final class Psr18ClientDiscovery
{
    public static function find(): ClientInterface
    {
        throw new \LogicException();
    }
}

class Psr17Factory extends Nyholm
{
}
