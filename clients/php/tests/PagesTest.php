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

final class PagesTest extends TestCase
{
    /** @return array<string, array{array<mixed>}> */
    public static function cases(): array
    {
        return Contract::named(Contract::read('pages.json'));
    }

    /** @param array<mixed> $case */
    #[DataProvider('cases')]
    public function testAListIsReadPageByPage(array $case): void
    {
        $replies = new Replies(...self::replies($case['pages']));
        $client = new ServerClient('https://feedback.example.com', 'sk_test', wire: $replies->wire());
        $items = [];
        $failure = null;
        try {
            foreach ($client->listConversations($case['query']) as $key => $item) {
                self::assertSame(count($items), $key);
                $items[] = $item;
                if (count($items) === $case['take']) {
                    break;
                }
            }
        } catch (ParleyException $error) {
            $failure = $error->kind->value;
        }
        self::assertSame($case['items'], $items);
        self::assertSame($case['failure'] ?? null, $failure);
        self::assertEquals($case['requests'], array_map(self::query(...), $replies->requests));
    }

    /** @return array<string, array{array<mixed>}> */
    public static function feeds(): array
    {
        return Contract::named(Contract::read('feed.json'));
    }

    /** @param array<mixed> $case */
    #[DataProvider('feeds')]
    public function testTheFeedIsReadPageByPage(array $case): void
    {
        $count = count($case['pages']);
        $reply = static fn (array $page, int $index): Response => isset($page['status'])
            ? Replies::json(['code' => $page['code']], $page['status'])
            : Replies::json($page + ['has_more' => $index < $count - 1]);
        $replies = new Replies(...array_map($reply, $case['pages'], array_keys($case['pages'])));
        $client = new ServerClient('https://feedback.example.com', 'sk_test', wire: $replies->wire());
        $items = [];
        $failure = null;
        try {
            foreach ($client->readEvents($case['query']) as $item) {
                $items[] = $item;
                if (count($items) === $case['take']) {
                    break;
                }
            }
        } catch (ParleyException $error) {
            $failure = $error->kind->value;
        }
        self::assertSame($case['items'], $items);
        self::assertSame($case['failure'] ?? null, $failure);
        self::assertEquals($case['requests'], array_map(self::query(...), $replies->requests));
    }

    public function testAListBeginsAnewWithEachLoop(): void
    {
        $replies = new Replies(...self::replies([[1, 2]]), ...self::replies([[1, 2]]));
        $list = (new ServerClient('https://feedback.example.com', 'sk_test', wire: $replies->wire()))->listAnswers();
        self::assertSame([1, 2], iterator_to_array($list));
        self::assertSame([1, 2], iterator_to_array($list));
    }

    /**
     * @param array<mixed> $pages
     * @return list<Response>
     */
    private static function replies(array $pages): array
    {
        $replies = [];
        foreach ($pages as $index => $page) {
            $hasMore = isset($pages[$index + 1]);
            $replies[] = isset($page['status'])
                ? Replies::json(['code' => $page['code']], $page['status'])
                : Replies::json([
                    'data' => $page,
                    'has_more' => $hasMore,
                    'next_cursor' => $hasMore ? 'c' . ($index + 1) : null,
                ]);
        }
        return $replies;
    }

    /** @return array<mixed> */
    private static function query(RequestInterface $request): array
    {
        parse_str($request->getUri()->getQuery(), $query);
        return $query;
    }
}
