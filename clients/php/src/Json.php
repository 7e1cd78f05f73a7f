<?php

declare(strict_types=1);

namespace Parley;

/** JSON encoding and decoding. */
final class Json
{
    /** Members that are objects: PHP would encode an empty array, and one with the keys 0, 1 …, as a list. */
    public const OBJECTS = [
        'after', 'answered', 'app_version', 'attributes', 'change', 'changes', 'config', 'custom', 'frequency', 'labels', 'locale',
        'metadata', 'platform', 'schedule', 'translations', 'values', 'was',
    ];

    /**
     * @param array<mixed> $body
     * @throws \InvalidArgumentException for values that cannot be encoded as JSON, such as text that is not UTF-8
     */
    public static function encode(array $body): string
    {
        try {
            return json_encode(
                (object) self::withObjects($body),
                JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES,
            );
        } catch (\JsonException $cause) {
            throw new \InvalidArgumentException("The body cannot be encoded as JSON: {$cause->getMessage()}", 0, $cause);
        }
    }

    /**
     * Decodes a JSON object to an array; null if the text is not an object.
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
            return null; // a proxy's error page or a truncated response: handled by the caller
        }
    }

    /**
     * @param array<mixed> $value
     * @param bool $areTranslations whether the value is within `translations`, where everything is an object
     * @return array<mixed>
     */
    private static function withObjects(array $value, bool $areTranslations = false): array
    {
        foreach ($value as $name => $member) {
            if (is_array($member)) {
                $isObject = $areTranslations || in_array($name, self::OBJECTS, true);
                $members = self::withObjects($member, $areTranslations || $name === 'translations');
                $value[$name] = $isObject ? (object) $members : $members;
            }
        }
        return $value;
    }
}
