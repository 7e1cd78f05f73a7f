<?php

declare(strict_types=1);

namespace Parley\Tests;

use Parley\ErrorKind;
use Parley\ParleyException;
use Parley\Tests\Support\Contract;
use Parley\WebhookVerifier;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class WebhooksTest extends TestCase
{
    /** @return array<string, array{array<mixed>}> */
    public static function verified(): array
    {
        return Contract::named(Contract::read('webhooks.json')['verify']);
    }

    /** @return array<string, array{array<mixed>}> */
    public static function refused(): array
    {
        return Contract::named(Contract::read('webhooks.json')['refuse']);
    }

    /** @return array<string, array{array<mixed>}> */
    public static function invalid(): array
    {
        return Contract::named(Contract::read('webhooks.json')['invalid']);
    }

    /** @param array<mixed> $case */
    #[DataProvider('verified')]
    public function testARequestIsAccepted(array $case): void
    {
        self::assertSame(json_decode($case['body'], true), self::verify($case));
    }

    /** @param array<mixed> $case */
    #[DataProvider('refused')]
    public function testARequestIsRefused(array $case): void
    {
        try {
            self::verify($case);
            self::fail('Expected an exception.');
        } catch (ParleyException $error) {
            self::assertSame(ErrorKind::InvalidWebhook, $error->kind);
            self::assertSame($case['code'], $error->problemCode);
            self::assertFalse($error->retryable);
        }
    }

    /** @param array<mixed> $case */
    #[DataProvider('invalid')]
    public function testAWrongSecretIsNamed(array $case): void
    {
        try {
            self::verify($case);
            self::fail('Expected an exception.');
        } catch (\InvalidArgumentException $error) {
            self::assertStringContainsString($case['argument'], $error->getMessage());
            foreach (array_filter($case['secrets']) as $secret) {
                self::assertStringNotContainsString($secret, (string) $error);
            }
        }
    }

    public function testHeadersMayBeListsOfOneValue(): void
    {
        $case = Contract::read('webhooks.json')['verify'][0];
        $lists = array_map(static fn (string $value): array => [$value], $case['headers']);
        self::assertSame('answer.completed', self::verify(['headers' => $lists] + $case)['type']);
        $this->expectException(ParleyException::class);
        self::verify(['headers' => ['webhook-id' => ['a', 'b']] + $lists] + $case);
    }

    public function testTheSecretsAreNotShown(): void
    {
        $case = Contract::read('webhooks.json')['verify'][0];
        $shown = print_r(new WebhookVerifier($case['secrets']), true);
        self::assertStringNotContainsString((string) base64_decode(substr($case['secrets'][0], 6), true), $shown);
    }

    /**
     * @param array<mixed> $case
     * @return array<string, mixed>
     */
    private static function verify(array $case): array
    {
        $now = static fn (): float => (float) Contract::read('webhooks.json')['now'];
        $body = $case['body'] ?? (string) base64_decode($case['body_base64'], true);
        return (new WebhookVerifier($case['secrets'], $now))->verify($body, $case['headers']);
    }
}
