<?php

declare(strict_types=1);

namespace Parley;

/** Base URL of Parley. */
final class BaseUrl
{
    /** URL parts that are not allowed in a base URL. */
    private const NOT_TAKEN = ['user' => 0, 'pass' => 0, 'query' => 0, 'fragment' => 0];

    private const LOOPBACK = '/^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/D';

    /** Characters that are invalid in URLs; `parse_url` would accept some of them in the host. */
    private const ILLEGAL = '/[\x00-\x20\x7f"<>\\\\^`{|}]/';

    /**
     * Returns the base that paths are appended to: `https`, or `http` on localhost (specification 4.3).
     *
     * @param bool $allowHttp whether `http` is accepted for any host
     * @throws ParleyException insecure-url, for any other URL
     */
    public static function check(string $url, bool $allowHttp = false): string
    {
        $parts = preg_match(self::ILLEGAL, $url) === 1 ? false : parse_url($url);
        $scheme = strtolower($parts['scheme'] ?? '');
        $host = strtolower($parts['host'] ?? '');
        $mayBePlain = $allowHttp || preg_match(self::LOOPBACK, $host) === 1;
        $isSafe = $host !== '' && ($scheme === 'https' || ($scheme === 'http' && $mayBePlain));
        if ($parts === false || !$isSafe || array_intersect_key($parts, self::NOT_TAKEN) !== []) {
            // not quoted: it may contain a password
            $fault = 'The base URL must use https:// (or http://localhost), without credentials, query or fragment. '
                . 'For plain HTTP in a trusted network, pass allowHttp: true.';
            throw new ParleyException(ErrorKind::InsecureUrl, $fault);
        }
        $port = isset($parts['port']) ? ":{$parts['port']}" : '';
        return rtrim("$scheme://$host$port" . ($parts['path'] ?? ''), '/');
    }
}
