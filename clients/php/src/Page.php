<?php

declare(strict_types=1);

namespace Parley;

/**
 * One page of a list.
 *
 * @template Item of array
 */
final class Page
{
    /**
     * @param list<Item> $data
     * @param string|null $nextCursor cursor of the next page; null at the end
     * @param int|null $last only of the feed: `after` of the next page
     */
    public function __construct(
        public readonly array $data,
        public readonly bool $hasMore,
        public readonly ?string $nextCursor,
        public readonly ?int $last = null,
    ) {
    }

    /**
     * Returns the parameters of the query for the next page; null at the end.
     *
     * @return array<string, mixed>|null
     */
    public function next(): ?array
    {
        if (!$this->hasMore) {
            return null;
        }
        if ($this->last !== null) {
            return ['after' => $this->last];
        }
        return $this->nextCursor === null ? null : ['cursor' => $this->nextCursor];
    }

    /**
     * Parses a page.
     *
     * @param array<string, mixed> $body
     * @return self<array<string, mixed>>
     * @throws ParleyException unreadable
     */
    public static function of(array $body): self
    {
        $data = $body['data'] ?? null;
        $cursor = $body['next_cursor'] ?? null;
        $last = $body['last'] ?? null;
        if (!is_array($data) || !array_is_list($data)) {
            throw new ParleyException(ErrorKind::Unreadable, 'The response is not a list. Check the base URL.', 200);
        }
        /** @var list<array<string, mixed>> $data */
        $hasMore = ($body['has_more'] ?? false) === true;
        return new self($data, $hasMore, is_string($cursor) ? $cursor : null, is_int($last) ? $last : null);
    }
}
