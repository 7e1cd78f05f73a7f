<?php

declare(strict_types=1);

namespace Parley;

/** Where Parley is. */
final class BaseUrl
{
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
        $isSafe = $host !== '' && ($scheme === 'https' || ($scheme === 'http' && preg_match(self::LOOPBACK, $host) === 1));
        if ($parts === false || !$isSafe || array_intersect_key($parts, ['user' => 0, 'pass' => 0, 'query' => 0, 'fragment' => 0])) {
            throw new ParleyException(
                ErrorKind::InsecureUrl,
                'The base URL must be https:// (or http://localhost) and a path alone.', // not quoted: it may hold a password
            );
        }
        $port = isset($parts['port']) ? ":{$parts['port']}" : '';
        return rtrim("$scheme://$host$port" . ($parts['path'] ?? ''), '/');
    }
}
