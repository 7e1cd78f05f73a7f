<?php

declare(strict_types=1);

namespace Parley\Tests\Support;

/** What tests read from disk. */
final class Files
{
    /** The API's own document, of the server in the same repository. */
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
