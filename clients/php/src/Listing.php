<?php

declare(strict_types=1);

namespace Parley;

/**
 * A list: `foreach` iterates over all items and fetches pages on demand; `page()` returns only the first page.
 * Failures are thrown after the preceding items. Each `foreach` starts over.
 *
 * @template Item of array
 * @implements \IteratorAggregate<int, Item>
 */
final class Listing implements \IteratorAggregate
{
    /**
     * @param array<string, mixed> $query the filters, repeated with each page
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
        for ($next = []; $next !== null; $next = $page->next()) {
            $page = ($this->fetch)($next + $this->query);
            foreach ($page->data as $item) {
                yield $item; // not `yield from`, which would restart the keys on each page
            }
        }
    }
}
