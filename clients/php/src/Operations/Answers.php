<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Batches;
use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * Answers and tokens.
 *
 * @phpstan-import-type Answer from Shapes
 * @phpstan-import-type AnswerQuery from Shapes
 * @phpstan-import-type Inspection from Shapes
 * @phpstan-import-type NewAnswer from Shapes
 * @phpstan-import-type Receipts from Shapes
 */
trait Answers
{
    /**
     * Records 1 to 100 answers, at most 256 KB in total; returns one receipt per item, in order. Accepted answers are
     * durable and stored once, even if sent repeatedly. Invalid items are rejected individually. If something on the way,
     * such as a firewall, refuses them, they are sent in smaller requests; an answer that is refused in a request of its
     * own is rejected with `refused`: send it again later.
     *
     * @param array{answers: list<NewAnswer>, client_time?: string} $body
     * @return Receipts
     */
    public function recordAnswers(array $body): array
    {
        $send = fn (array $part): array =>
            $this->postIdentified('recordAnswers', '/v1/answers', ['answers' => $part] + $body);
        if (count($body['answers']) < 2) {
            /** @var Receipts */
            return $send($body['answers']);
        }
        return ['results' => Batches::send($body['answers'], $send)];
    }

    /**
     * Lists answers, latest received first.
     *
     * @param AnswerQuery $query
     * @return Listing<Answer>
     */
    public function listAnswers(array $query = []): Listing
    {
        /** @var Listing<Answer> */
        return $this->list(__FUNCTION__, '/v1/answers', $query);
    }

    /**
     * Returns an answer; not-found until it is stored.
     *
     * @param-out string|null $etag for `ifMatch`
     * @return Answer
     */
    public function readAnswer(string $id, ?string &$etag = null): array
    {
        /** @var Answer */
        return $this->read(__FUNCTION__, Path::fill('/v1/answers/{id}', $id), etag: $etag);
    }

    /**
     * Changes an answer's tags.
     *
     * @param array{tags: list<string>} $body
     * @return Answer
     */
    public function patchAnswer(string $id, array $body, ?string $ifMatch = null): array
    {
        /** @var Answer */
        return $this->change(__FUNCTION__, 'PATCH', Path::fill('/v1/answers/{id}', $id), $body, ifMatch: $ifMatch);
    }

    /** Deletes an answer. Its id cannot be reused: a later sync is rejected. */
    public function deleteAnswer(string $id, ?string $ifMatch = null): void
    {
        $this->delete(__FUNCTION__, Path::fill('/v1/answers/{id}', $id), $ifMatch);
    }

    /**
     * Validates one of your access tokens.
     *
     * @param array{token: string} $body
     * @return Inspection
     */
    public function inspectToken(array $body, ?string $idempotencyKey = null): array
    {
        /** @var Inspection */
        return $this->post(__FUNCTION__, '/v1/auth/inspect', $body, $idempotencyKey);
    }
}
