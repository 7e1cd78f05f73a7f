<?php

declare(strict_types=1);

namespace Parley\Tests;

use Parley\Tests\Support\Contract;
use Parley\Tests\Support\Operation;
use Parley\TokenSigner;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class SigningTest extends TestCase
{
    private const HEADER = ['alg' => 'HS256', 'cty' => 'svc-fpa;v=1', 'typ' => 'JWT'];

    /** @return array<string, array{array<mixed>}> */
    public static function signed(): array
    {
        return Contract::named(Contract::read('signing.json')['sign']);
    }

    /** @return array<string, array{array<mixed>}> */
    public static function refused(): array
    {
        return Contract::named(Contract::read('signing.json')['refuse']);
    }

    /** @return array<string, array{array<mixed>}> */
    public static function checked(): array
    {
        return Contract::named(Contract::read('signing.json')['check']);
    }

    /** @param array<mixed> $case */
    #[DataProvider('checked')]
    public function testTheCheckerTellsRightFromWrong(array $case): void
    {
        self::assertSame($case['valid'], self::isRight($case['token'], $case['secret']));
    }

    /** @param array<mixed> $case */
    #[DataProvider('signed')]
    public function testATokenSaysWhatItShould(array $case): void
    {
        $token = self::sign($case);
        [$header, $claims] = array_map(self::decode(...), explode('.', $token));
        self::assertEquals($case['header'], $header);
        self::assertSame($case['claims']['exp'], $claims['exp']);
        self::assertEquals($case['claims'], $claims);
        self::assertTrue(self::isRight($token, $case['secret']));
    }

    /** @param array<mixed> $case */
    #[DataProvider('refused')]
    public function testAWrongArgumentIsNamed(array $case): void
    {
        try {
            self::sign($case);
            self::fail('Expected an exception.');
        } catch (\InvalidArgumentException | \TypeError $error) {
            self::assertMatchesRegularExpression(
                '/\b' . Operation::camelCase($case['argument']) . '\b/',
                $error->getMessage(),
            );
            if ($case['secret'] !== '') {
                self::assertStringNotContainsString($case['secret'], (string) $error);
            }
        }
    }

    public function testTheSecretIsNotShown(): void
    {
        $case = Contract::read('signing.json')['sign'][0];
        $signer = new TokenSigner($case['key_id'], $case['secret'], $case['tenant_id']);
        self::assertStringNotContainsString($case['secret'], print_r($signer, true));
    }

    /** @param array<mixed> $case */
    private static function sign(array $case): string
    {
        $signer = new TokenSigner(
            $case['key_id'],
            $case['secret'],
            $case['tenant_id'],
            static fn (): float => (float) $case['now'],
        );
        return $signer->sign($case['identity'], ...array_filter(['lifetimeSeconds' => $case['lifetime_seconds'] ?? null], is_int(...)));
    }

    /** Checks the exact header and the signature of a token without a JWT library. */
    private static function isRight(string $token, string $secret): bool
    {
        if (preg_match('/^([\w-]+)\.([\w-]+)\.([\w-]+)$/D', $token, $parts) !== 1) {
            return false;
        }
        $header = self::decode($parts[1]);
        ksort($header);
        $signature = hash_hmac('sha256', "$parts[1].$parts[2]", $secret, true);
        return $header === self::HEADER && hash_equals(self::encode($signature), $parts[3]);
    }

    /** @return array<mixed> */
    private static function decode(string $part): array
    {
        return (array) json_decode((string) base64_decode(strtr($part, '-_', '+/'), true), true);
    }

    private static function encode(string $bytes): string
    {
        return rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    }
}
