<?php

declare(strict_types=1);

namespace Parley;

/**
 * A list: `foreach` goes through all of it, fetching page by page as needed; `page()` gives the first page alone.
 * A failure comes after the items before it. Each `foreach` begins anew.
 *
 * @template Item of array
 * @implements \IteratorAggregate<int, Item>
 */
final class Listing implements \IteratorAggregate
{
    /**
     * @param array<string, mixed> $query the filters, repeated with each cursor
     * @param \Closure(array<string, mixed>): Page<Item> $fetch
     */
    public function __construct(private readonly array $query, private readonly \Closure $fetch)
    {
    }

    /**
     * @return Page<Item>
     * @throws ParleyException
     */
    public function page(): Page
    {
        return ($this->fetch)($this->query);
    }

    /**
     * @return \Generator<int, Item>
     * @throws ParleyException
     */
    public function getIterator(): \Generator
    {
        for ($query = $this->query; ; $query = ['cursor' => $page->nextCursor] + $this->query) {
            $page = ($this->fetch)($query);
            foreach ($page->data as $item) {
                yield $item; // not `yield from`, which would begin the keys anew with each page
            }
            if (!$page->hasMore || $page->nextCursor === null) {
                return;
            }
        }
    }
}
