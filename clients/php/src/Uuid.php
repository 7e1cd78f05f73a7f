<?php

declare(strict_types=1);

namespace Parley;

/** Client-generated ids. */
final class Uuid
{
    /** Generates a UUIDv7 (RFC 9562) for an answer or a message; sorts by creation time. */
    public static function v7(?float $now = null): string
    {
        $milliseconds = (int) floor(($now ?? microtime(true)) * 1000);
        $bytes = substr(pack('J', $milliseconds), 2) . random_bytes(10);
        $bytes[6] = chr(0x70 | (ord($bytes[6]) & 0x0f));
        $bytes[8] = chr(0x80 | (ord($bytes[8]) & 0x3f));
        return vsprintf('%s%s-%s-%s-%s-%s%s%s', str_split(bin2hex($bytes), 4));
    }
}
