<?php

/**
 * Runs a part of the scenario: `php run.php <part>`. Input and output are described in the README of
 * `clients/contract`.
 */

declare(strict_types=1);

use Parley\Runner\Part;
use Parley\Runner\World;
use Parley\Tests\Support\Files;

require __DIR__ . '/../vendor/autoload.php';

const PASSED = 0;
const FAILED = 1;
const STARTED_WRONGLY = 2;
const NOT_IN_THIS_LANGUAGE = 3;

/** @param array<string, mixed> $line */
function say(array $line): void
{
    fwrite(STDOUT, json_encode($line, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES) . "\n");
}

/** @param array<mixed> $part */
function play(array $part): int
{
    $steps = new Part(World::open(isset($part['through'])), say(...));
    foreach ($part['steps'] as $index => $step) {
        try {
            $steps->play($step);
            say(['step' => $index, 'do' => $step['do'], 'passed' => true]);
        } catch (\Throwable $error) {
            say(['step' => $index, 'do' => $step['do'], 'passed' => false, 'detail' => $error->getMessage()]);
            fwrite(STDERR, "$error\n");
            return FAILED;
        }
    }
    return PASSED;
}

$scenario = getenv('PARLEY_SCENARIO');
$parts = $argc === 2 && is_string($scenario) ? Files::readJson($scenario)['parts'] : [];
$part = array_column($parts, null, 'name')[$argv[1] ?? ''] ?? null;
exit(match (true) {
    $part === null => STARTED_WRONGLY,
    $part['needs'] !== 'server' => NOT_IN_THIS_LANGUAGE,
    default => play($part),
});
