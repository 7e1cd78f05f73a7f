<?php

/** Prints whether the public package accepts each case of webhooks.json, read from standard input. */

declare(strict_types=1);

namespace StandardWebhooks {
    /** The time that the package sees. */
    function time(): int
    {
        return $GLOBALS['asked']['now'];
    }
}

namespace {
    require $argv[1];
    $asked = json_decode((string) stream_get_contents(STDIN), true);
    $accepts = static function (string $secret, array $case): bool {
        try {
            $body = $case['body'] ?? base64_decode($case['body_base64'], true);
            (new StandardWebhooks\Webhook($secret))->verify($body, array_change_key_case($case['headers']));
            return true;
        } catch (Throwable) {
            return false;
        }
    };
    $results = [];
    foreach ($asked['cases'] as $case) {
        $results[] = in_array(true, array_map(static fn (string $secret): bool => $accepts($secret, $case), $case['secrets']), true);
    }
    echo json_encode($results);
}
