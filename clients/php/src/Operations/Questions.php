<?php

declare(strict_types=1);

namespace Parley\Operations;

use Parley\Listing;
use Parley\Path;
use Parley\Shapes;

/**
 * Questions and their results.
 *
 * @phpstan-import-type NewQuestion from Shapes
 * @phpstan-import-type Question from Shapes
 * @phpstan-import-type QuestionListItem from Shapes
 * @phpstan-import-type QuestionPatch from Shapes
 * @phpstan-import-type QuestionQuery from Shapes
 * @phpstan-import-type QuestionTemplates from Shapes
 * @phpstan-import-type QuestionVersion from Shapes
 * @phpstan-import-type Reach from Shapes
 * @phpstan-import-type ReachRequest from Shapes
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
        return $this->list(__FUNCTION__, '/v1/questions', $query);
    }

    /**
     * Creates a draft; `publishQuestion` publishes it.
     *
     * @param NewQuestion $body
     * @return Question
     */
    public function createQuestion(array $body, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(__FUNCTION__, '/v1/questions', $body, $idempotencyKey);
    }

    /**
     * @param-out string|null $etag for `ifMatch`
     * @return Question
     */
    public function readQuestion(string $id, ?string &$etag = null): array
    {
        /** @var Question */
        return $this->read(__FUNCTION__, Path::fill('/v1/questions/{id}', $id), etag: $etag);
    }

    /**
     * Updates a question; for a live one this creates a version.
     *
     * @param QuestionPatch $body
     * @return Question
     */
    public function patchQuestion(string $id, array $body, ?string $ifMatch = null): array
    {
        /** @var Question */
        return $this->change(__FUNCTION__, 'PATCH', Path::fill('/v1/questions/{id}', $id), $body, ifMatch: $ifMatch);
    }

    /** Deletes a draft. */
    public function deleteQuestion(string $id, ?string $ifMatch = null): void
    {
        $this->delete(__FUNCTION__, Path::fill('/v1/questions/{id}', $id), $ifMatch);
    }

    /**
     * Copies a question into a new draft.
     *
     * @return Question
     */
    public function cloneQuestion(string $id, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(__FUNCTION__, Path::fill('/v1/questions/{id}/clone', $id), null, $idempotencyKey);
    }

    /**
     * Lists the versions of a question, newest first.
     *
     * @param array{limit?: int, cursor?: string} $query
     * @return Listing<QuestionVersion>
     */
    public function listQuestionVersions(string $id, array $query = []): Listing
    {
        /** @var Listing<QuestionVersion> */
        return $this->list(__FUNCTION__, Path::fill('/v1/questions/{id}/versions', $id), $query);
    }

    /**
     * Publishes a draft. This and the next four methods fail with a conflict if the status does not allow them.
     *
     * @return Question
     */
    public function publishQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(__FUNCTION__, Path::fill('/v1/questions/{id}/publish', $id), null, $idempotencyKey, $ifMatch);
    }

    /** @return Question */
    public function pauseQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(__FUNCTION__, Path::fill('/v1/questions/{id}/pause', $id), null, $idempotencyKey, $ifMatch);
    }

    /** @return Question */
    public function resumeQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(__FUNCTION__, Path::fill('/v1/questions/{id}/resume', $id), null, $idempotencyKey, $ifMatch);
    }

    /**
     * Closes a question. Answers are accepted for 7 more days.
     *
     * @return Question
     */
    public function closeQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(__FUNCTION__, Path::fill('/v1/questions/{id}/close', $id), null, $idempotencyKey, $ifMatch);
    }

    /** @return Question */
    public function archiveQuestion(string $id, ?string $ifMatch = null, ?string $idempotencyKey = null): array
    {
        /** @var Question */
        return $this->post(__FUNCTION__, Path::fill('/v1/questions/{id}/archive', $id), null, $idempotencyKey, $ifMatch);
    }

    /**
     * Returns common questions to start from: pass the `question` of one to `createQuestion`.
     *
     * @param array{locale?: string} $query language of the texts: German for `de`, otherwise English
     * @return QuestionTemplates
     */
    public function readQuestionTemplates(array $query = []): array
    {
        /** @var QuestionTemplates */
        return $this->read(__FUNCTION__, '/v1/question-templates', $query);
    }

    /**
     * Returns counts, score and response rate: total, over time and by version.
     *
     * @param ResultsQuery $query
     * @return Results
     */
    public function readResults(string $id, array $query = []): array
    {
        /** @var Results */
        return $this->read(__FUNCTION__, Path::fill('/v1/questions/{id}/results', $id), $query);
    }

    /**
     * Returns how many of the last 5,000 people who were shown a card the question would reach now.
     *
     * @param ReachRequest $body rules to evaluate instead of those of the question
     * @return Reach
     */
    public function estimateReach(string $id, array $body = [], ?string $idempotencyKey = null): array
    {
        /** @var Reach */
        return $this->post(__FUNCTION__, Path::fill('/v1/questions/{id}/reach', $id), $body, $idempotencyKey);
    }
}
