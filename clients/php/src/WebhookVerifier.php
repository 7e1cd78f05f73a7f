<?php

declare(strict_types=1);

namespace Parley;

/**
 * Verifies requests to a webhook (Standard Webhooks).
 *
 * @phpstan-import-type WebhookEvent from Shapes
 */
final class WebhookVerifier
{
    /** How old, and how far ahead, the time of a request may be. */
    public const TOLERANCE_S = 300;

    /** 24 bytes or more, in base64. */
    private const SECRET = '~^whsec_((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$~D';

    private const SIGNATURE = '~^v1,([A-Za-z0-9+/]{43}=)$~D';

    /** @var list<string> */
    private readonly array $keys;

    /** @var \Closure(): float */
    private readonly \Closure $now;

    /**
     * @param string|list<string> $secret secret of the webhook, `whsec_…`, or several of these while you change it
     * @param (\Closure(): float)|null $now seconds since 1970
     * @throws \InvalidArgumentException for an invalid secret; never contains it
     */
    public function __construct(#[\SensitiveParameter] string|array $secret, ?\Closure $now = null)
    {
        $secrets = array_values((array) $secret);
        if ($secrets === []) {
            throw new \InvalidArgumentException('secret must be the secret of the webhook, whsec_…');
        }
        $this->keys = array_map(self::keyOf(...), $secrets);
        $this->now = $now ?? static fn (): float => microtime(true);
    }

    /**
     * Returns the event of a request, if it was signed with the webhook's secret within the last five minutes.
     *
     * @param string $body body of the request as received, before any parsing: `file_get_contents('php://input')`
     * @param array<array-key, mixed> $headers headers of the request: `getallheaders()`, `$request->getHeaders()`
     *     (PSR-7), `$request->headers->all()` (Symfony, Laravel)
     * @return WebhookEvent
     * @throws ParleyException invalid-webhook: the request is not from Parley; reply 400. `problemCode` is the reason
     */
    public function verify(string $body, array $headers): array
    {
        $id = self::header($headers, 'webhook-id');
        $timestamp = self::header($headers, 'webhook-timestamp');
        $given = self::header($headers, 'webhook-signature');
        $this->checkTime($timestamp);
        if (!$this->isSigned(explode(' ', $given), "$id.$timestamp.$body")) {
            throw self::refusal('wrong-signature', 'No signature of the request was made with the secret of the webhook.');
        }
        $event = Json::decodeObject($body);
        if (!is_string($event['id'] ?? null) || !is_string($event['type'] ?? null)) {
            throw self::refusal('not-an-event', 'The body is not an event.');
        }
        /** @var WebhookEvent $event */
        return $event;
    }

    /** @return array<string, mixed> properties without the secrets */
    public function __debugInfo(): array
    {
        return ['secrets' => count($this->keys)];
    }

    private static function keyOf(#[\SensitiveParameter] mixed $secret): string
    {
        if (!is_string($secret) || preg_match(self::SECRET, $secret, $parts) !== 1) {
            throw new \InvalidArgumentException('secret must be the secret of the webhook, whsec_…');
        }
        return (string) base64_decode($parts[1], true);
    }

    /** @param list<string> $signatures */
    private function isSigned(array $signatures, string $content): bool
    {
        foreach ($this->keys as $key) {
            $digest = hash_hmac('sha256', $content, $key, true);
            foreach ($signatures as $signature) {
                $isReadable = preg_match(self::SIGNATURE, $signature, $parts) === 1;
                if ($isReadable && hash_equals($digest, (string) base64_decode($parts[1], true))) {
                    return true;
                }
            }
        }
        return false;
    }

    /** @param array<array-key, mixed> $headers */
    private static function header(array $headers, string $name): string
    {
        $value = array_change_key_case($headers)[$name] ?? null;
        $value = is_array($value) && count($value) === 1 ? reset($value) : $value;
        if (!is_string($value) || $value === '') {
            throw self::refusal('missing-header', "The request has no header $name.");
        }
        return $value;
    }

    private function checkTime(string $timestamp): void
    {
        if (preg_match('/^[0-9]{1,15}$/D', $timestamp) !== 1) {
            throw self::refusal('invalid-timestamp', 'The header webhook-timestamp is not a number of seconds.');
        }
        $age = (int) floor(($this->now)()) - (int) $timestamp;
        if ($age > self::TOLERANCE_S) {
            throw self::refusal('too-old', "The request is $age s old; " . self::TOLERANCE_S . ' s are allowed.');
        }
        if ($age < -self::TOLERANCE_S) {
            $ahead = -$age;
            $allowed = self::TOLERANCE_S . ' s are allowed. Check your clock.';
            throw self::refusal('too-new', "The time of the request is $ahead s ahead; $allowed");
        }
    }

    private static function refusal(string $code, string $message): ParleyException
    {
        return new ParleyException(ErrorKind::InvalidWebhook, $message, problemCode: $code);
    }
}
