<?php

declare(strict_types=1);

namespace Parley;

/**
 * Every failure of a call. Wrong arguments are an `InvalidArgumentException` or a `TypeError`; whatever else is thrown
 * is a bug of this library.
 *
 * @phpstan-type FieldError array{pointer: string, code: string, detail: string}
 */
final class ParleyException extends \RuntimeException
{
    /**
     * @param int $status the HTTP status; 0 without a reply
     * @param string|null $problemCode Parley's own code, such as `validation-failed`; null where the reply has none. It
     *     is `code` on the wire and in the other languages, which PHP's exceptions keep for a number of their own
     * @param string|null $title what the code means, the same for each occurrence
     * @param string|null $detail what happened this time
     * @param string|null $requestId by which the operator finds the request in the log
     * @param list<FieldError> $errors where (JSON pointer or parameter name), which fault, and in words
     * @param bool $retryable whether the same request may succeed later; the client has then already repeated it
     * @param int|null $retryAfterMs after how long the server wants to be asked again; null where it doesn't say
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
