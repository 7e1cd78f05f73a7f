<?php

declare(strict_types=1);

namespace Parley;

use Psr\Http\Message\ResponseInterface;

/** Converts error responses (RFC 9457) to exceptions. */
final class Problem
{
    private const RETRYABLE = [408, 425, 429];

    /** Limit of a parsed `Retry-After`. */
    private const LONGEST_RETRY_AFTER_MS = 1_000_000_000_000;

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
        $requestId = self::text($document, 'request_id') ?? self::requestId($response);
        $errors = self::fieldErrors($document['errors'] ?? null);
        return new ParleyException(
            $kind,
            self::describe($detail ?? $title ?? 'The request failed.', [$status, $code, $requestId], $errors),
            $status,
            $code,
            $title,
            $detail,
            $requestId,
            $errors,
            in_array($status, self::RETRYABLE, true) || $status >= 500 || $code === 'idempotency-key-in-use',
            self::retryAfterMs($response->getHeaderLine('Retry-After'), $now),
        );
    }

    /** A response that is not from Parley. Includes redirects, which would send the credential to another URL. */
    public static function unreadable(ResponseInterface $response): ParleyException
    {
        $status = $response->getStatusCode();
        $requestId = self::requestId($response);
        $text = self::describe('The response is not from Parley. Check the base URL.', [$status, $requestId], []);
        return new ParleyException(ErrorKind::Unreadable, $text, $status, requestId: $requestId);
    }

    /**
     * Returns the message of an exception: the explanation with status, code, request id and invalid fields.
     *
     * @param list<int|string|null> $known
     * @param list<array{pointer: string, code: string, detail: string, parameter?: string}> $errors
     */
    private static function describe(string $text, array $known, array $errors): string
    {
        $lines = ["$text (" . implode(', ', array_filter($known, static fn ($part): bool => $part !== null)) . ')'];
        foreach ($errors as $error) {
            $lines[] = '  ' . ($error['parameter'] ?? $error['pointer']) . ": {$error['detail']} ({$error['code']})";
        }
        return implode("\n", $lines);
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

    /** @return list<array{pointer: string, code: string, detail: string, parameter?: string}> */
    private static function fieldErrors(mixed $errors): array
    {
        $read = [];
        foreach (is_array($errors) ? $errors : [] as $error) {
            /** @var array<string, mixed> $error */
            $error = is_array($error) ? $error : [];
            $code = self::text($error, 'code');
            $detail = self::text($error, 'detail');
            if ($code === null || $detail === null) {
                continue; // gateways have errors of their own under this name
            }
            $field = ['pointer' => self::text($error, 'pointer') ?? '', 'code' => $code, 'detail' => $detail];
            $parameter = self::text($error, 'parameter');
            $read[] = $parameter === null ? $field : [...$field, 'parameter' => $parameter];
        }
        return $read;
    }

    /** Parses `Retry-After`: seconds or a date (RFC 9110), else null. Not with `strtotime`, which accepts "tomorrow". */
    private static function retryAfterMs(string $value, float $now): ?int
    {
        if (preg_match('/^\d+$/D', $value) === 1) {
            return (int) min((float) $value * 1000, self::LONGEST_RETRY_AFTER_MS);
        }
        $date = \DateTimeImmutable::createFromFormat('!D, d M Y H:i:s \G\M\T', $value, new \DateTimeZone('UTC'));
        if ($date === false) {
            return null;
        }
        $waitMs = round(($date->getTimestamp() - $now) * 1000);
        return (int) min(max(0, $waitMs), self::LONGEST_RETRY_AFTER_MS);
    }
}
