<?php

declare(strict_types=1);

namespace Parley\Tests;

use Parley\BaseUrl;
use Parley\ErrorKind;
use Parley\ParleyException;
use Parley\PublicKeyClient;
use Parley\ServerClient;
use Parley\Tests\Support\Contract;
use Parley\Tests\Support\Replies;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class UrlsTest extends TestCase
{
    /** @return array<string, array{array<mixed>}> */
    public static function accepted(): array
    {
        return Contract::named(Contract::read('urls.json')['accepted'], 'url');
    }

    /** @return array<string, array{string}> */
    public static function refused(): array
    {
        $refused = array_column(Contract::read('urls.json')['refused'], 'url', 'url');
        $more = [
            'a line break' => "https://feedback.example.com/\r\nX: y",
            'a backslash, which some take for a slash' => 'http://example.com\\.localhost',
            'a port that is none' => 'https://feedback.example.com:99999',
        ];
        return array_map(static fn (string $url): array => [$url], $refused + $more);
    }

    /** @param array<mixed> $case */
    #[DataProvider('accepted')]
    public function testASafeUrlIsABase(array $case): void
    {
        self::assertSame($case['base'], BaseUrl::check($case['url']));
        $replies = new Replies(Replies::json(['stored' => 1]));
        (new ServerClient($case['url'], 'sk_test', wire: $replies->wire()))->readIngestion();
        self::assertSame("{$case['base']}/v1/ingestion", (string) $replies->requests[0]->getUri());
    }

    #[DataProvider('refused')]
    public function testAnUnsafeUrlIsRefusedWhenTheClientIsMade(string $url): void
    {
        $makers = [
            static fn () => new ServerClient($url, 'sk_test', wire: (new Replies())->wire()),
            static fn () => new PublicKeyClient($url, 'key_test', wire: (new Replies())->wire()),
        ];
        foreach ($makers as $make) {
            try {
                $make();
                self::fail('Expected an exception.');
            } catch (ParleyException $error) {
                self::assertSame(ErrorKind::InsecureUrl, $error->kind);
                self::assertSame(0, $error->status);
                self::assertFalse($error->retryable);
            }
        }
    }

    public function testPlainHttpNeedsAnOption(): void
    {
        $cases = Contract::read('urls.json');
        foreach ($cases['accepted_with_allow_http'] as $case) {
            self::assertSame($case['base'], BaseUrl::check($case['url'], allowHttp: true));
            $replies = new Replies(Replies::json(['stored' => 1]));
            (new ServerClient($case['url'], 'sk_test', wire: $replies->wire(), allowHttp: true))->readIngestion();
            self::assertSame("{$case['base']}/v1/ingestion", (string) $replies->requests[0]->getUri());
            new PublicKeyClient($case['url'], 'key_test', wire: $replies->wire(), allowHttp: true);
            self::assertSame(ErrorKind::InsecureUrl, self::kindOfRefusal($case['url'], false), $case['url']);
        }
        foreach ($cases['refused_with_allow_http'] as $case) {
            self::assertSame(ErrorKind::InsecureUrl, self::kindOfRefusal($case['url'], true), $case['url']);
        }
    }

    private static function kindOfRefusal(string $url, bool $allowHttp): ?ErrorKind
    {
        try {
            new ServerClient($url, 'sk_test', wire: (new Replies())->wire(), allowHttp: $allowHttp);
            return null;
        } catch (ParleyException $error) {
            return $error->kind;
        }
    }
}
