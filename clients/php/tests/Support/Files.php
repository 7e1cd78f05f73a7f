<?php

declare(strict_types=1);

namespace Parley\Tests\Support;

/** Test files. */
final class Files
{
    /** The OpenAPI document of the server in this repository. */
    public const OPENAPI = __DIR__ . '/../../../../docs/openapi.json';

    /** @var array<string, array<mixed>> files by path: the document is large, and each reference in it reads it */
    private static array $read = [];

    /** @return array<mixed> */
    public static function readJson(string $path): array
    {
        return self::$read[$path] ??= self::parse($path);
    }

    /** @return array<mixed> */
    private static function parse(string $path): array
    {
        $text = file_get_contents($path);
        if ($text === false) {
            throw new \LogicException("No file $path");
        }
        return json_decode($text, true, 512, JSON_THROW_ON_ERROR);
    }
}
