<?php

/**
 * Endpoint that issues access tokens to your users, in plain PHP: `POST /v1/svc/auth/token`, the convention of Parley's
 * guides. Copy it into a project that has parley-feedback/client and lcobucci/jwt, and try it with
 *
 *     SESSIONS=session-of-ada=42 php -S 127.0.0.1:8080 token.php
 *     curl -X POST -H 'Authorization: Bearer session-of-ada' http://127.0.0.1:8080/v1/svc/auth/token
 *
 * In production, run it behind TLS.
 */

declare(strict_types=1);

use Parley\TokenSigner;

require __DIR__ . '/vendor/autoload.php';

/** @param array<string, string> $body */
function reply(int $status, array $body): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    header('Cache-Control: no-store');
    exit(json_encode($body, JSON_THROW_ON_ERROR));
}

/**
 * Returns the signed-in user of the request, or null. Replace this with your application's session lookup; here sessions
 * are listed in SESSIONS (`token=user,token=user`).
 */
function findUser(string $authorization): ?string
{
    foreach (explode(',', (string) getenv('SESSIONS')) as $line) {
        [$session, $user] = explode('=', $line, 2) + ['', ''];
        if ($session !== '' && hash_equals("Bearer $session", $authorization)) {
            return $user;
        }
    }
    return null;
}

function setting(string $name): string
{
    $value = getenv($name);
    return is_string($value) ? $value : throw new RuntimeException("$name is not set.");
}

/** @param array<mixed> $request as `$_SERVER` describes it */
function handle(array $request): never
{
    if ([$request['REQUEST_METHOD'] ?? '', $request['REQUEST_URI'] ?? ''] !== ['POST', '/v1/svc/auth/token']) {
        reply(404, ['error' => 'not found']);
    }
    $authorization = $request['HTTP_AUTHORIZATION'] ?? '';
    $user = findUser(is_string($authorization) ? $authorization : '');
    if ($user === null) {
        reply(401, ['error' => 'not logged in']);
    }
    $signer = new TokenSigner(
        setting('SERVICE_API_KEY_ID'),
        setting('SERVICE_API_KEY_SECRET'),
        setting('SERVICE_TENANT_ID'),
    );
    reply(200, ['access_token' => $signer->sign("user|$user")]);
}

handle($_SERVER);
