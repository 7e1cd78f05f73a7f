<?php

declare(strict_types=1);

namespace Parley\Tests;

use Parley\PublicKeyClient;
use Parley\ServerClient;
use Parley\Tests\Support\Contract;
use Parley\Tests\Support\Operation;
use Parley\Tests\Support\Replies;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Http\Message\RequestInterface;

final class RequestsTest extends TestCase
{
    private const BASE = 'https://feedback.example.com';

    /** @return array<string, array{array<mixed>, string}> */
    public static function cases(): array
    {
        $named = [];
        foreach (Contract::read('requests.json') as $number => $case) {
            foreach (array_intersect($case['as'], ['server', 'public-key']) as $side) {
                $named["$number {$case['operation']} as $side"] = [$case, $side];
            }
        }
        return $named;
    }

    /** @param array<mixed> $case */
    #[DataProvider('cases')]
    public function testExactlyThisGoesOut(array $case, string $side): void
    {
        $request = self::send($case, $side);
        $sent = $case['sent'];
        self::assertSame($sent['method'], $request->getMethod());
        self::assertSame(self::BASE . $sent['path'], (string) $request->getUri()->withQuery(''));
        self::assertSame($sent['query'] ?? [], self::query($request));
        self::assertSame(isset($sent['body']) ? 'application/json' : '', $request->getHeaderLine('Content-Type'));
        self::assertSame($sent['body'] ?? null, json_decode((string) $request->getBody(), true));
        self::assertSame($sent['if_match'] ?? '', $request->getHeaderLine('If-Match'));
        self::assertSame($sent['idempotency_key'], $request->getHeaderLine('Idempotency-Key') !== '');
        $credential = $side === 'server' ? 'Bearer sk_test' : 'Basic ' . base64_encode('api_key:key_test');
        self::assertSame([$credential], $request->getHeader('Authorization'));
    }

    /** @return array<string, array{array<mixed>, string}> */
    public static function casesWithKey(): array
    {
        return array_filter(self::cases(), static fn (array $case): bool => $case[0]['sent']['idempotency_key']);
    }

    /** @param array<mixed> $case */
    #[DataProvider('casesWithKey')]
    public function testTheCallersIdempotencyKeyIsSent(array $case, string $side): void
    {
        $request = self::send($case, $side, ['idempotencyKey' => 'order-42']);
        self::assertSame(['order-42'], $request->getHeader('Idempotency-Key'));
    }

    public function testEachCallHasAnIdempotencyKeyOfItsOwn(): void
    {
        $replies = new Replies(Replies::json(['id' => 'q']), Replies::json(['id' => 'q']));
        $client = new ServerClient(self::BASE, 'sk_test', wire: $replies->wire());
        $client->createQuestion(['type' => 'nps', 'title' => 'How likely?']);
        $client->createQuestion(['type' => 'nps', 'title' => 'How likely?']);
        [$first, $second] = $replies->requests;
        self::assertNotSame($first->getHeader('Idempotency-Key'), $second->getHeader('Idempotency-Key'));
    }

    public function testTimesAreSentInUtc(): void
    {
        $replies = new Replies(Replies::json(['data' => [], 'has_more' => false, 'next_cursor' => null]));
        $client = new ServerClient(self::BASE, 'sk_test', wire: $replies->wire());
        $client->listAnswers(['updated_since' => new \DateTimeImmutable('2026-11-21T08:00:00.5+01:00')])->page();
        self::assertSame(['updated_since' => '2026-11-21T07:00:00.500Z'], self::query($replies->requests[0]));
    }

    public function testAnEmptyObjectIsSentAsOne(): void
    {
        $replies = new Replies(Replies::json(new \stdClass()), Replies::json(new \stdClass()));
        $client = new ServerClient(self::BASE, 'sk_test', wire: $replies->wire());
        $client->putIdentity('user|42', ['attributes' => []]);
        $client->patchAnswer('01936d5e-8f00-7000-8000-000000000001', ['tags' => []]);
        self::assertSame('{"attributes":{}}', (string) $replies->requests[0]->getBody());
        self::assertSame('{"tags":[]}', (string) $replies->requests[1]->getBody());
    }

    public function testAnObjectWithTheKeysOfAListIsSentAsOne(): void
    {
        $replies = new Replies(Replies::json(new \stdClass()), Replies::json(new \stdClass()));
        $client = new ServerClient(self::BASE, 'sk_test', wire: $replies->wire());
        $client->putIdentity('user|42', ['attributes' => ['0' => 'a', '1' => 'b']]);
        self::assertSame('{"attributes":{"0":"a","1":"b"}}', (string) $replies->requests[0]->getBody());
        $texts = ['title' => 'Farbe', 'config' => ['options' => ['0' => 'Rot', '1' => 'Blau']], 'follow_ups' => []];
        $client->patchQuestion('question_1', [
            'config' => ['options' => [['id' => '0', 'label' => 'Red'], ['id' => '1', 'label' => 'Blue']]],
            'translations' => ['de' => $texts],
        ]);
        $sent = '{"config":{"options":[{"id":"0","label":"Red"},{"id":"1","label":"Blue"}]},"translations":{"de":'
            . '{"title":"Farbe","config":{"options":{"0":"Rot","1":"Blau"}},"follow_ups":{}}}}';
        self::assertSame($sent, (string) $replies->requests[1]->getBody());
    }

    public function testTextThatIsNotUtf8IsRefused(): void
    {
        $client = new ServerClient(self::BASE, 'sk_test', wire: (new Replies())->wire());
        $this->expectException(\InvalidArgumentException::class);
        $client->createMessage('conversation_1', ['body' => "Zo\xeb"]);
    }

    public function testAPathThatWouldLeadElsewhereIsRefused(): void
    {
        $client = new ServerClient(self::BASE, 'sk_test', wire: (new Replies())->wire());
        foreach (['', '.', '..'] as $segment) {
            try {
                $client->deleteQuestion($segment);
                self::fail("'$segment' was sent.");
            } catch (\InvalidArgumentException $error) {
                self::assertStringContainsString('id must not be', $error->getMessage());
            }
        }
    }

    public function testWhatIsNoBearerValueIsRefusedAndNotQuoted(): void
    {
        foreach (['', 'secret-of-the-key', "sk_test\r\nX: y"] as $key) {
            try {
                new ServerClient(self::BASE, $key, wire: (new Replies())->wire());
                self::fail('Expected an exception.');
            } catch (\InvalidArgumentException $error) {
                self::assertSame('apiKey must be the bearer value of a server key, sk_…', $error->getMessage());
            }
        }
    }

    public function testTheApiKeyIsNotShown(): void
    {
        $client = new ServerClient(self::BASE, 'sk_nobody_sees_it', wire: (new Replies())->wire());
        self::assertStringNotContainsString('sk_nobody_sees_it', print_r($client, true));
    }

    /**
     * @param array<mixed> $case
     * @param array<string, mixed> $more
     */
    private static function send(array $case, string $side, array $more = []): RequestInterface
    {
        $body = ['data' => [], 'has_more' => false, 'next_cursor' => null];
        $replies = new Replies(Replies::json($body));
        $client = $side === 'server'
            ? new ServerClient(self::BASE, 'sk_test', wire: $replies->wire())
            : new PublicKeyClient(self::BASE, 'key_test', wire: $replies->wire());
        Operation::request($client, $case['operation'], $case['arguments'], $more);
        self::assertCount(1, $replies->requests);
        return $replies->requests[0];
    }

    /** @return array<mixed> */
    private static function query(RequestInterface $request): array
    {
        parse_str($request->getUri()->getQuery(), $query);
        return $query;
    }
}
