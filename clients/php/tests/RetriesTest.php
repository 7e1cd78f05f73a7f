<?php

declare(strict_types=1);

namespace Parley\Tests;

use GuzzleHttp\Psr7\Response;
use Parley\ParleyException;
use Parley\RetryPolicy;
use Parley\ServerClient;
use Parley\Tests\Support\Contract;
use Parley\Tests\Support\Replies;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Http\Message\RequestInterface;

final class RetriesTest extends TestCase
{
    /** @return array<string, array{array<mixed>}> */
    public static function calls(): array
    {
        return Contract::named(Contract::read('retries.json')['calls']);
    }

    public function testTheDefaultIsThePolicyOfRequests(): void
    {
        self::assertEquals(self::policy('request'), new RetryPolicy());
    }

    public function testEachDelayIsAsItShouldBe(): void
    {
        foreach (Contract::read('retries.json')['delays'] as $case) {
            $delay = self::policy($case['policy'])->delayBefore($case['retry'], (float) $case['random'], $case['retry_after_ms']);
            self::assertSame($case['delay_ms'], $delay, json_encode($case, JSON_THROW_ON_ERROR));
        }
    }

    /** @param array<mixed> $case */
    #[DataProvider('calls')]
    public function testACallIsRepeatedWhereThatHelps(array $case): void
    {
        $replies = new Replies(...array_map(self::reply(...), $case['replies']));
        $outcome = self::call($case['method'], $replies);
        self::assertSame($case['outcome'], $outcome);
        self::assertCount($case['attempts'], $replies->requests);
        self::assertCount($case['attempts'] - 1, $replies->waits);
        self::assertCount(1, array_unique(array_map(self::text(...), $replies->requests)), 'every attempt is the same');
    }

    public function testTheServersWishIsWaitedFor(): void
    {
        $busy = new Response(503, ['Retry-After' => '7']);
        $replies = new Replies($busy, Replies::json(['id' => 'q']));
        self::assertSame('success', self::call('POST', $replies));
        self::assertSame([7250], $replies->waits);
    }

    private static function call(string $method, Replies $replies): string
    {
        $client = new ServerClient('https://feedback.example.com', 'sk_test', wire: $replies->wire());
        try {
            match ($method) {
                'GET' => $client->readQuestion('question_1'),
                'POST' => $client->createQuestion(['type' => 'nps', 'title' => 'How likely?']),
                'PUT' => $client->putIdentity('user|42', ['attributes' => ['plan' => 'pro']]),
                'DELETE' => $client->deleteQuestion('question_1'),
            };
            return 'success';
        } catch (ParleyException $error) {
            return $error->kind->value;
        }
    }

    private static function policy(string $name): RetryPolicy
    {
        $policy = Contract::read('retries.json')['policies'][$name];
        return new RetryPolicy($policy['retries'], $policy['base_ms'], $policy['cap_ms'], $policy['longest_retry_after_ms']);
    }

    private static function reply(int|string $status): ?Response
    {
        return is_int($status) ? Replies::json(['id' => 'question_1'], $status) : null;
    }

    private static function text(RequestInterface $request): string
    {
        return json_encode([
            $request->getMethod(),
            (string) $request->getUri(),
            $request->getHeaders(),
            (string) $request->getBody(),
        ], JSON_THROW_ON_ERROR);
    }
}
