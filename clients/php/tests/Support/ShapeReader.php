<?php

declare(strict_types=1);

namespace Parley\Tests\Support;

use Parley\Shapes;

/** Parses the array shapes declared for PHPStan. */
final class ShapeReader
{
    /** @return array<string, array<string, bool>> of each shape its members, and whether they may be absent */
    public static function readAll(): array
    {
        $text = (string) preg_replace('/^\s*\*/m', '', (string) (new \ReflectionClass(Shapes::class))->getDocComment());
        preg_match_all('/@phpstan-type (\w+) array(\{(?:[^{}]|(?2))*\})/', $text, $types, PREG_SET_ORDER);
        $shapes = [];
        foreach ($types as [, $name, $braced]) {
            $shapes[$name] = self::members(substr($braced, 1, -1));
        }
        return $shapes;
    }

    /** @return array<string, bool> */
    private static function members(string $shape): array
    {
        $flat = (string) preg_replace('/(\{(?:[^{}]|(?1))*\})|(<(?:[^<>]|(?2))*>)/', '', $shape);
        preg_match_all('/(\w+)(\??):/', $flat, $members, PREG_SET_ORDER);
        $isOptional = array_map(static fn (array $member): bool => $member[2] === '?', $members);
        return array_combine(array_column($members, 1), $isOptional);
    }
}
