<?php

declare(strict_types=1);

namespace Parley\Tests;

use GuzzleHttp\Psr7\Response;
use Parley\ErrorKind;
use Parley\ParleyException;
use Parley\RetryPolicy;
use Parley\ServerClient;
use Parley\Tests\Support\Contract;
use Parley\Tests\Support\Operation;
use Parley\Tests\Support\Replies;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

final class ProblemsTest extends TestCase
{
    /** @return array<string, array{array<mixed>}> */
    public static function cases(): array
    {
        return Contract::named(Contract::read('problems.json')['cases']);
    }

    /** @param array<mixed> $case */
    #[DataProvider('cases')]
    public function testAReplyThatIsNoSuccessIsAnError(array $case): void
    {
        $error = self::refuse(new Response($case['status'], $case['headers'], $case['body']));
        foreach ($case['expect'] as $name => $expected) {
            $property = $name === 'code' ? 'problemCode' : Operation::camelCase($name);
            self::assertSame($expected, $name === 'kind' ? $error->kind->value : $error->$property, $name);
        }
    }

    /** @param array<mixed> $case */
    #[DataProvider('cases')]
    public function testTheMessageNamesCodeRequestAndFields(array $case): void
    {
        $error = self::refuse(new Response($case['status'], $case['headers'], $case['body']));
        $parts = [(string) $error->status, $error->problemCode, $error->requestId];
        foreach ($error->errors as $field) {
            array_push($parts, $field['parameter'] ?? $field['pointer'], $field['detail']);
        }
        foreach (array_filter($parts, is_string(...)) as $part) {
            self::assertStringContainsString($part, $error->getMessage());
        }
    }

    public function testEachStatusHasItsKind(): void
    {
        $kinds = Contract::read('problems.json')['kinds'];
        foreach (range(400, 599) as $status) {
            $expected = $kinds[$status] ?? $kinds[$status < 500 ? '4xx' : '5xx'];
            self::assertSame($expected, ErrorKind::ofStatus($status)->value, (string) $status);
        }
    }

    public function testNoReplyIsRetryableAndKeepsItsCause(): void
    {
        $error = self::refuse(null);
        self::assertSame(ErrorKind::NoReply, $error->kind);
        self::assertSame(0, $error->status);
        self::assertTrue($error->retryable);
        self::assertSame('Connection reset', $error->getPrevious()?->getMessage());
    }

    public function testAListThatIsNoneIsUnreadable(): void
    {
        $client = new ServerClient('https://feedback.example.com', 'sk_test', wire: (new Replies(Replies::json(['data' => 5])))->wire());
        try {
            $client->listAnswers()->page();
            self::fail('Expected an exception.');
        } catch (ParleyException $error) {
            self::assertSame(ErrorKind::Unreadable, $error->kind);
        }
    }

    private static function refuse(?Response $reply): ParleyException
    {
        $now = (float) strtotime(Contract::read('problems.json')['now']);
        $wire = (new Replies($reply))->wire($now);
        $client = new ServerClient('https://feedback.example.com', 'sk_test', new RetryPolicy(retries: 0), $wire);
        try {
            $client->readIngestion();
        } catch (ParleyException $error) {
            return $error;
        }
        self::fail('Expected an exception.');
    }
}
