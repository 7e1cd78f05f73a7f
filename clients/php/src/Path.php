<?php

declare(strict_types=1);

namespace Parley;

/** Builds paths and queries. */
final class Path
{
    /** Dot segments, encoded or not, which HTTP clients resolve to another path. */
    private const STEPS = ['', '.', '..'];

    /** @throws \InvalidArgumentException for a value that is not a valid path segment */
    public static function fill(string $pattern, string ...$values): string
    {
        $fill = static function (array $match) use (&$values): string {
            $value = array_shift($values);
            if ($value === null || in_array($value, self::STEPS, true)) {
                throw new \InvalidArgumentException("{$match[1]} must not be empty or consist of dots.");
            }
            return rawurlencode($value);
        };
        return (string) preg_replace_callback('/\{(\w+)\}/', $fill, $pattern);
    }

    /**
     * Appends a query to a path; null values are omitted, times are sent in UTC, lists separated by commas.
     *
     * @param array<string, mixed> $query
     */
    public static function withQuery(string $path, array $query): string
    {
        $texts = array_map(self::toText(...), array_filter($query, static fn (mixed $value): bool => $value !== null));
        return $texts === [] ? $path : $path . '?' . http_build_query($texts, '', '&', PHP_QUERY_RFC3986);
    }

    private static function toText(mixed $value): string
    {
        return match (true) {
            is_string($value), is_int($value) => (string) $value,
            is_bool($value) => $value ? 'true' : 'false',
            is_array($value) => implode(',', array_map(self::toText(...), $value)),
            $value instanceof \DateTimeInterface => \DateTimeImmutable::createFromInterface($value)
                ->setTimezone(new \DateTimeZone('UTC'))
                ->format('Y-m-d\TH:i:s.v\Z'),
            default => throw new \InvalidArgumentException('Query values must be strings, integers, booleans, times or lists of these.'),
        };
    }
}
