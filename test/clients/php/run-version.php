<?php

/**
 * Loads every class of the client, signs a token, and plays the contract's answers to failed calls. Warnings and deprecations fail. Written
 * without PHPUnit, whose current version needs a newer PHP than the client.
 */

declare(strict_types=1);

[, $client] = $argv;
set_error_handler(static function (int $level, string $message, string $file, int $line) use ($client): bool {
    if (str_starts_with($file, $client)) {
        throw new ErrorException($message, 0, $level, $file, $line);
    }
    return true; // Debian's libraries are made for its own PHP
});
require $argv[2] ?? '/usr/local/lib/parley/libraries.php';
spl_autoload_register(static function (string $class) use ($client): void {
    foreach (['Parley\\Tests\\' => 'tests', 'Parley\\' => 'src'] as $prefix => $folder) {
        $file = "$client/$folder/" . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require_once $file;
            return;
        }
    }
});
$files = new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$client/src", FilesystemIterator::SKIP_DOTS));
foreach ($files as $file) {
    require_once (string) $file;
}

if (!class_exists(Normalizer::class)) {
    // Composer installs a polyfill. The identity below is ASCII, whose normal form it is.
    final class Normalizer
    {
        public static function isNormalized(string $text): bool
        {
            return true;
        }
    }
}
$signer = new Parley\TokenSigner('key_1', str_repeat('s', 32), 'tenant_1', static fn (): float => 1_700_000_000.0);
[$head, $claims, $signature] = explode('.', $signer->sign('user|42'));
$decode = static fn (string $part): array => json_decode(base64_decode(strtr($part, '-_', '+/')), true);
$expected = hash_hmac('sha256', "$head.$claims", str_repeat('s', 32), true);
if ($decode($claims)['grants'] !== ['identity' => 'user|42'] || base64_decode(strtr($signature, '-_', '+/')) !== $expected) {
    throw new LogicException('The token is wrong.');
}

$played = 0;
foreach (Parley\Tests\Support\Contract::read('problems.json')['cases'] as $case) {
    $response = new GuzzleHttp\Psr7\Response($case['status'], $case['headers'], $case['body']);
    $wire = (new Parley\Tests\Support\Replies($response))->wire();
    $server = new Parley\ServerClient('https://feedback.example.com', 'sk_secret', new Parley\RetryPolicy(retries: 0), $wire);
    try {
        $server->listQuestions(['limit' => 1])->page();
        throw new LogicException("No error: {$case['name']}");
    } catch (Parley\ParleyException $error) {
        if ($error->kind->value !== $case['expect']['kind']) {
            throw new LogicException("{$case['name']}: {$error->kind->value}");
        }
        $played++;
    }
}
$page = new GuzzleHttp\Psr7\Response(200, [], '{"data":[{"id":"question_1"}],"has_more":false,"next_cursor":null}');
$wire = (new Parley\Tests\Support\Replies($page))->wire();
foreach ((new Parley\ServerClient('https://feedback.example.com', 'sk_secret', wire: $wire))->listQuestions() as $question) {
    echo PHP_VERSION, " $played {$question['id']}\n";
}
