<?php

declare(strict_types=1);

namespace Parley\Tests\Support;

/** Test files. */
final class Files
{
    /** The OpenAPI document of the server in this repository. */
    public const OPENAPI = __DIR__ . '/../../../../docs/openapi.json';

    /** @return array<mixed> */
    public static function readJson(string $path): array
    {
        $text = file_get_contents($path);
        if ($text === false) {
            throw new \LogicException("No file $path");
        }
        return json_decode($text, true, 512, JSON_THROW_ON_ERROR);
    }
}
