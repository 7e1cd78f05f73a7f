<?php

declare(strict_types=1);

namespace Parley;

/** JSON as Parley speaks it. */
final class Json
{
    /** The members that are objects: PHP has one empty array for both, and would write `[]` where `{}` is meant. */
    public const OBJECTS = ['attributes', 'config', 'frequency', 'labels', 'metadata', 'values'];

    /**
     * @param array<mixed> $body
     * @throws \InvalidArgumentException for what JSON can't say, such as text that is not UTF-8
     */
    public static function encode(array $body): string
    {
        try {
            return json_encode(
                (object) self::withObjects($body),
                JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES,
            );
        } catch (\JsonException $cause) {
            throw new \InvalidArgumentException("The body can't be written as JSON: {$cause->getMessage()}", 0, $cause);
        }
    }

    /**
     * An object as an array by name; null where the text is none.
     *
     * @return array<string, mixed>|null
     */
    public static function decodeObject(string $text): ?array
    {
        try {
            $value = json_decode($text, false, 512, JSON_THROW_ON_ERROR);
            /** @var array<string, mixed> */
            return $value instanceof \stdClass ? json_decode($text, true, 512, JSON_THROW_ON_ERROR) : null;
        } catch (\JsonException) {
            return null; // a proxy's page, or a reply that broke off: the caller says what that means
        }
    }

    /**
     * @param array<mixed> $value
     * @return array<mixed>
     */
    private static function withObjects(array $value): array
    {
        foreach ($value as $name => $member) {
            if ($member === [] && in_array($name, self::OBJECTS, true)) {
                $value[$name] = new \stdClass();
            } elseif (is_array($member)) {
                $value[$name] = self::withObjects($member);
            }
        }
        return $value;
    }
}
