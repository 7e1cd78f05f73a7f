<?php

declare(strict_types=1);

namespace Parley\Tests;

use GuzzleHttp\Psr7\Response;
use Parley\Attempt;
use Parley\ErrorKind;
use Parley\ParleyException;
use Parley\RetryPolicy;
use Parley\ServerClient;
use Parley\Tests\Support\Replies;
use PHPUnit\Framework\TestCase;

/** Options of a client and of single calls. */
final class OptionsTest extends TestCase
{
    private const URL = 'https://feedback.example.com';

    public function testEachAttemptIsReportedForALog(): void
    {
        $attempts = [];
        $replies = new Replies(new Response(503, ['X-Request-Id' => 'req-1']), null, Replies::json(['code' => 'x'], 409));
        $note = static function (Attempt $attempt) use (&$attempts): void {
            $attempts[] = $attempt;
        };
        $client = new ServerClient(self::URL, 'sk_test', wire: $replies->wire(), onAttempt: $note);
        try {
            $client->publishQuestion('question_1');
            self::fail('Expected an exception.');
        } catch (ParleyException) {
            self::assertSame([1, 2, 3], array_column($attempts, 'number'));
            self::assertSame([503, 0, 409], array_column($attempts, 'status'));
            self::assertSame(['req-1', null, null], array_map(static fn (Attempt $each) => $each->requestId, $attempts));
            self::assertSame([250, 500, null], array_map(static fn (Attempt $each) => $each->retryInMs, $attempts));
            self::assertSame(['publishQuestion'], array_unique(array_column($attempts, 'operation')));
            self::assertSame(['POST'], array_unique(array_column($attempts, 'method')));
            $kinds = array_map(static fn (Attempt $each) => $each->error?->kind, $attempts);
            self::assertSame([ErrorKind::Unavailable, ErrorKind::NoReply, ErrorKind::Conflict], $kinds);
        }
    }

    public function testASuccessIsReportedWithoutAnError(): void
    {
        $attempts = [];
        $note = static function (Attempt $attempt) use (&$attempts): void {
            $attempts[] = $attempt;
        };
        $wire = (new Replies(Replies::json(['data' => [], 'has_more' => false, 'next_cursor' => null])))->wire();
        (new ServerClient(self::URL, 'sk_test', wire: $wire, onAttempt: $note))->listAnswers()->page();
        self::assertCount(1, $attempts);
        self::assertSame('listAnswers', $attempts[0]->operation);
        self::assertSame(200, $attempts[0]->status);
        self::assertNull($attempts[0]->error);
        self::assertNull($attempts[0]->retryInMs);
    }

    public function testOptionsOfSingleCallsLeaveTheClientAsItIs(): void
    {
        $replies = new Replies(new Response(503), new Response(503), Replies::json(['queued' => 0]));
        $client = new ServerClient(self::URL, 'sk_test', wire: $replies->wire());
        try {
            $client->with(retry: new RetryPolicy(retries: 0))->readIngestion();
            self::fail('Expected an exception.');
        } catch (ParleyException) {
            self::assertCount(1, $replies->requests);
        }
        $client->readIngestion();
        self::assertCount(3, $replies->requests);
        $other = new Replies(Replies::json(['queued' => 0]));
        $client->with(wire: $other->wire())->readIngestion();
        self::assertCount(1, $other->requests);
    }
}
