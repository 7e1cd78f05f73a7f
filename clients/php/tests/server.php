<?php

/** A misbehaving server for `WireTest`: `php -S … server.php`. */

declare(strict_types=1);

$path = (string) parse_url((string) $_SERVER['REQUEST_URI'], PHP_URL_PATH);
header('Content-Type: application/json');
match ($path) {
    '/redirecting/v1/ingestion' => header('Location: /v1/ingestion', true, 302),
    '/breaking-off/v1/ingestion' => header('Content-Length: 1000'),
    default => null,
};
echo json_encode([
    'method' => $_SERVER['REQUEST_METHOD'],
    'path' => $_SERVER['REQUEST_URI'],
    'headers' => getallheaders(),
    'body' => file_get_contents('php://input'),
], JSON_THROW_ON_ERROR);
