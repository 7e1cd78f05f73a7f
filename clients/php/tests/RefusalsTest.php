<?php

declare(strict_types=1);

namespace Parley\Tests;

use GuzzleHttp\Psr7\Response;
use Parley\ParleyException;
use Parley\ServerClient;
use Parley\Tests\Support\Contract;
use Parley\Tests\Support\Replies;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Http\Message\RequestInterface;

final class RefusalsTest extends TestCase
{
    /** @return array<string, array{array<mixed>}> */
    public static function cases(): array
    {
        return Contract::named(Contract::read('refusals.json'));
    }

    /** @param array<mixed> $case */
    #[DataProvider('cases')]
    public function testAnAnswerThatIsRefusedDoesNotHoldBackTheOthers(array $case): void
    {
        $replies = new Replies(...array_map(self::reply(...), $case['replies'], $case['sent']));
        $client = new ServerClient('https://feedback.example.com', 'sk_test', wire: $replies->wire());
        $answers = array_map(self::answer(...), $case['answers'] === 0 ? [] : range(1, $case['answers']));
        $results = null;
        $failure = null;
        try {
            $receipts = $client->recordAnswers(['answers' => $answers])['results'];
            self::assertSame(array_column($answers, 'id'), array_column($receipts, 'id'));
            $results = array_map(self::verdict(...), $receipts);
        } catch (ParleyException $error) {
            $failure = $error->kind->value;
        }
        self::assertSame($case['results'] ?? null, $results);
        self::assertSame($case['failure'] ?? null, $failure);
        self::assertSame($case['sent'], array_map(self::sent(...), $replies->requests));
    }

    /** @return array<mixed> */
    private static function answer(int $number): array
    {
        return ['id' => "answer $number", 'revision' => 1, 'identity' => 'user|1', 'question_id' => 'question_1'];
    }

    /**
     * @param array<mixed> $reply
     * @param list<int> $sent
     */
    private static function reply(array $reply, array $sent): Response
    {
        ['status' => $status] = $reply;
        if (isset($reply['body'])) {
            return new Response($status, [], $reply['body']);
        }
        if (isset($reply['code'])) {
            return Replies::json(['title' => 'Refused'] + $reply, $status);
        }
        $receipt = static fn (int $n): array => ['id' => "answer $n", 'revision' => 1, 'status' => 'accepted'];
        return Replies::json($status === 202 ? ['results' => array_map($receipt, $sent)] : [], $status);
    }

    /**
     * @param array<mixed> $receipt
     * @return string|array<string, string>
     */
    private static function verdict(array $receipt): string|array
    {
        return isset($receipt['code']) ? [$receipt['status'] => $receipt['code']] : $receipt['status'];
    }

    /** @return list<int> */
    private static function sent(RequestInterface $request): array
    {
        $body = json_decode((string) $request->getBody(), true, flags: JSON_THROW_ON_ERROR);
        return array_map(static fn (array $answer): int => (int) substr($answer['id'], strlen('answer ')), $body['answers']);
    }
}
