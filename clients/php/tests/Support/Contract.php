<?php

declare(strict_types=1);

namespace Parley\Tests\Support;

/** Contract cases shared by the clients of all languages. */
final class Contract
{
    private const FOLDER = __DIR__ . '/../../../contract';

    /** @return array<mixed> */
    public static function read(string $file): array
    {
        return Files::readJson(self::FOLDER . "/$file");
    }

    /**
     * Cases by their names, for a data provider.
     *
     * @param array<mixed> $cases
     * @return array<string, array{array<mixed>}>
     */
    public static function named(array $cases, string $name = 'name'): array
    {
        $named = [];
        foreach ($cases as $case) {
            $named[(string) $case[$name]] = [$case];
        }
        return $named;
    }
}
