<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * Questions and what their answers come to.
 *
 * @phpstan-import-type NewQuestion from Shapes
 * @phpstan-import-type Question from Shapes
 * @phpstan-import-type QuestionListItem from Shapes
 * @phpstan-import-type QuestionPatch from Shapes
 * @phpstan-import-type QuestionQuery from Shapes
 * @phpstan-import-type QuestionVersion from Shapes
 * @phpstan-import-type Results from Shapes
 * @phpstan-import-type ResultsQuery from Shapes
 */
trait Questions
{
    /**
     * @param QuestionQuery $query
     * @return Listing<QuestionListItem>
     */
    public function listQuestions(array $query = []): Listing
    {
        /** @var Listing<QuestionListItem> */
        return $this->list('/v1/questions', $query);
    }

    /**
     * Drafts a question; `publishQuestion` hands it out.
     *
     * @param NewQuestion $body
     * @return Question
     */
    public function createQuestion(array $body, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post('/v1/questions', $body, $idempotencyKey);
    }

    /**
     * @param-out string|null $etag for `ifMatch`
     * @return Question
     */
    public function readQuestion(string $id, ?string &$etag = null): array
    {
        /** @var Question */
        return $this->read(Path::fill('/v1/questions/{id}', $id), etag: $etag);
    }

    /**
     * Changes a question; of a live one this makes a new version.
     *
     * @param QuestionPatch $body
     * @return Question
     */
    public function patchQuestion(string $id, array $body, ?string $ifMatch = null): array
    {
        /** @var Question */
        return $this->change('PATCH', Path::fill('/v1/questions/{id}', $id), $body, ifMatch: $ifMatch);
    }

    /** Deletes a draft. */
    public function deleteQuestion(string $id, ?string $ifMatch = null): void
    {
        $this->delete(Path::fill('/v1/questions/{id}', $id), $ifMatch);
    }

    /**
     * A new draft with the same content.
     *
     * @return Question
     */
    public function cloneQuestion(string $id, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(Path::fill('/v1/questions/{id}/clone', $id), null, $idempotencyKey);
    }

    /**
     * What it has been, newest first.
     *
     * @param array{limit?: int, cursor?: string} $query
     * @return Listing<QuestionVersion>
     */
    public function listQuestionVersions(string $id, array $query = []): Listing
    {
        /** @var Listing<QuestionVersion> */
        return $this->list(Path::fill('/v1/questions/{id}/versions', $id), $query);
    }

    /**
     * Hands it out as cards. In another state than the right one, this and the next four are a conflict.
     *
     * @return Question
     */
    public function publishQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(Path::fill('/v1/questions/{id}/publish', $id), null, $idempotencyKey, $ifMatch);
    }

    /** @return Question */
    public function pauseQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(Path::fill('/v1/questions/{id}/pause', $id), null, $idempotencyKey, $ifMatch);
    }

    /** @return Question */
    public function resumeQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(Path::fill('/v1/questions/{id}/resume', $id), null, $idempotencyKey, $ifMatch);
    }

    /**
     * Ends it. Answers to its cards are taken for 7 days more.
     *
     * @return Question
     */
    public function closeQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(Path::fill('/v1/questions/{id}/close', $id), null, $idempotencyKey, $ifMatch);
    }

    /** @return Question */
    public function archiveQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(Path::fill('/v1/questions/{id}/archive', $id), null, $idempotencyKey, $ifMatch);
    }

    /**
     * Counts, score and response rate, in all, over time and by version.
     *
     * @param ResultsQuery $query
     * @return Results
     */
    public function readResults(string $id, array $query = []): array
    {
        /** @var Results */
        return $this->read(Path::fill('/v1/questions/{id}/results', $id), $query);
    }
}
