<?php

declare(strict_types=1);

namespace Parley;

use Psr\Http\Message\ResponseInterface;

/** A successful response. */
final class Reply
{
    /**
     * @param array<string, mixed> $body empty for 204
     * @param string|null $etag ETag of the resource
     */
    public function __construct(public readonly array $body, public readonly ?string $etag)
    {
    }

    /**
     * Parses a response.
     *
     * @param float $now seconds since 1970
     * @throws ParleyException for error responses and unreadable ones
     */
    public static function read(ResponseInterface $response, string $text, float $now): self
    {
        $status = $response->getStatusCode();
        if ($status < 200 || $status > 299) {
            throw Problem::toException($response, $text, $now);
        }
        $body = $status === 204 ? [] : Json::decodeObject($text);
        if ($body === null) {
            throw Problem::unreadable($response);
        }
        return new self($body, $response->hasHeader('ETag') ? $response->getHeaderLine('ETag') : null);
    }
}
