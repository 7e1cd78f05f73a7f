<?php

declare(strict_types=1);

namespace Parley;

/** Where Parley is. */
final class BaseUrl
{
    /** What would carry credentials, or is no part of a base. */
    private const NOT_TAKEN = ['user' => 0, 'pass' => 0, 'query' => 0, 'fragment' => 0];

    private const LOOPBACK = '/^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/D';

    /** What no URL holds as it is. `parse_url` would take some of it for a part of the host. */
    private const ILLEGAL = '/[\x00-\x20\x7f"<>\\\\^`{|}]/';

    /**
     * The base that paths are appended to: `https`, or `http` on this very machine (specification 4.3).
     *
     * @throws ParleyException insecure-url, for everything else, before anything is sent
     */
    public static function check(string $url): string
    {
        $parts = preg_match(self::ILLEGAL, $url) === 1 ? false : parse_url($url);
        $scheme = strtolower($parts['scheme'] ?? '');
        $host = strtolower($parts['host'] ?? '');
        $isLocal = $scheme === 'http' && preg_match(self::LOOPBACK, $host) === 1;
        $isSafe = $host !== '' && ($scheme === 'https' || $isLocal);
        if ($parts === false || !$isSafe || array_intersect_key($parts, self::NOT_TAKEN) !== []) {
            // not quoted: it may hold a password
            $fault = 'The base URL must be https:// (or http://localhost) and a path alone.';
            throw new ParleyException(ErrorKind::InsecureUrl, $fault);
        }
        $port = isset($parts['port']) ? ":{$parts['port']}" : '';
        return rtrim("$scheme://$host$port" . ($parts['path'] ?? ''), '/');
    }
}
