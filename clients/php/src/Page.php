<?php

declare(strict_types=1);

namespace Parley;

/**
 * A part of a list.
 *
 * @template Item of array
 */
final class Page
{
    /**
     * @param list<Item> $data
     * @param string|null $nextCursor where the next page begins; null at the end
     */
    public function __construct(
        public readonly array $data,
        public readonly bool $hasMore,
        public readonly ?string $nextCursor,
    ) {
    }

    /**
     * A page as the API sends it.
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
            throw new ParleyException(ErrorKind::Unreadable, 'The reply holds no list: is the base URL right?', 200);
        }
        /** @var list<array<string, mixed>> $data */
        return new self($data, ($body['has_more'] ?? false) === true, is_string($cursor) ? $cursor : null);
    }
}
