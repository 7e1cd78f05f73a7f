<?php

declare(strict_types=1);

namespace Parley;

use Psr\Http\Message\ResponseInterface;

/** Replies that are no success (RFC 9457), as exceptions. */
final class Problem
{
    private const RETRYABLE = [408, 425, 429];

    /** @param float $now seconds since 1970 */
    public static function toException(ResponseInterface $response, string $text, float $now): ParleyException
    {
        $status = $response->getStatusCode();
        $kind = ErrorKind::ofStatus($status);
        if ($kind === ErrorKind::Unreadable) {
            return self::unreadable($response);
        }
        $document = Json::decodeObject($text) ?? [];
        $code = self::text($document, 'code');
        $title = self::text($document, 'title');
        $detail = self::text($document, 'detail');
        return new ParleyException(
            $kind,
            ($detail ?? $title ?? 'The server refused.') . " ($status" . ($code === null ? ')' : " $code)"),
            $status,
            $code,
            $title,
            $detail,
            self::text($document, 'request_id') ?? self::requestId($response),
            self::fieldErrors($document['errors'] ?? null),
            in_array($status, self::RETRYABLE, true) || $status >= 500 || $code === 'idempotency-key-in-use',
            self::retryAfterMs($response->getHeaderLine('Retry-After'), $now),
        );
    }

    /** A reply that no Parley sends. A redirect is one: it would carry the credential elsewhere. */
    public static function unreadable(ResponseInterface $response): ParleyException
    {
        $status = $response->getStatusCode();
        return new ParleyException(
            ErrorKind::Unreadable,
            "The reply ($status) is none of Parley's: is the base URL right?",
            $status,
            requestId: self::requestId($response),
        );
    }

    /** @param array<string, mixed> $document */
    private static function text(array $document, string $name): ?string
    {
        $value = $document[$name] ?? null;
        return is_string($value) ? $value : null;
    }

    private static function requestId(ResponseInterface $response): ?string
    {
        return $response->hasHeader('X-Request-Id') ? $response->getHeaderLine('X-Request-Id') : null;
    }

    /** @return list<array{pointer: string, code: string, detail: string}> */
    private static function fieldErrors(mixed $errors): array
    {
        $read = [];
        foreach (is_array($errors) ? $errors : [] as $error) {
            if (is_array($error)) {
                /** @var array<string, mixed> $error */
                $read[] = [
                    'pointer' => self::text($error, 'pointer') ?? '',
                    'code' => self::text($error, 'code') ?? '',
                    'detail' => self::text($error, 'detail') ?? '',
                ];
            }
        }
        return $read;
    }

    /** `Retry-After`: seconds or a date (RFC 9110); null where it says neither. `strtotime` would take "tomorrow". */
    private static function retryAfterMs(string $value, float $now): ?int
    {
        if (preg_match('/^\d{1,9}$/D', $value) === 1) {
            return (int) $value * 1000;
        }
        $date = \DateTimeImmutable::createFromFormat('!D, d M Y H:i:s \G\M\T', $value, new \DateTimeZone('UTC'));
        return $date === false ? null : (int) max(0, round(($date->getTimestamp() - $now) * 1000));
    }
}
