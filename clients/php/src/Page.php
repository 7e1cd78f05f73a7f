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
     */
    public function __construct(
        public readonly array $data,
        public readonly bool $hasMore,
        public readonly ?string $nextCursor,
    ) {
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
        if (!is_array($data) || !array_is_list($data)) {
            throw new ParleyException(ErrorKind::Unreadable, 'The response is not a list. Check the base URL.', 200);
        }
        /** @var list<array<string, mixed>> $data */
        return new self($data, ($body['has_more'] ?? false) === true, is_string($cursor) ? $cursor : null);
    }
}
