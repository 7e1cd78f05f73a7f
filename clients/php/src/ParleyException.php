<?php

declare(strict_types=1);

namespace Parley;

/**
 * Failure of a call. Invalid arguments throw `InvalidArgumentException` or `TypeError`; any other exception is a bug of
 * this library.
 *
 * @phpstan-type FieldError array{pointer: string, code: string, detail: string, parameter?: string}
 */
final class ParleyException extends \RuntimeException
{
    /**
     * @param int $status HTTP status; 0 without a response
     * @param string|null $problemCode problem code of Parley, such as `validation-failed`, or null. Named
     *     `code` in the API and in other languages; PHP exceptions reserve that name for an integer
     * @param string|null $title meaning of the code
     * @param string|null $detail explanation of this occurrence
     * @param string|null $requestId ID of the request in the server's log
     * @param list<FieldError> $errors validation errors: JSON pointer into the body (empty for a parameter), code, text, and the name of a parameter
     * @param bool $retryable whether the same request may succeed later; the client has already retried it
     * @param int|null $retryAfterMs `Retry-After` in milliseconds, or null
     */
    public function __construct(
        public readonly ErrorKind $kind,
        string $message,
        public readonly int $status = 0,
        public readonly ?string $problemCode = null,
        public readonly ?string $title = null,
        public readonly ?string $detail = null,
        public readonly ?string $requestId = null,
        public readonly array $errors = [],
        public readonly bool $retryable = false,
        public readonly ?int $retryAfterMs = null,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
