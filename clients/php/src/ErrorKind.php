<?php

declare(strict_types=1);

namespace Parley;

/** Kind of failure: derived from the status, or the reason for a missing response. */
enum ErrorKind: string
{
    case Malformed = 'malformed';
    case Unauthenticated = 'unauthenticated';
    case Forbidden = 'forbidden';
    case NotFound = 'not-found';
    case MethodNotAllowed = 'method-not-allowed';
    case NotAcceptable = 'not-acceptable';
    case TimedOut = 'timed-out';
    case Conflict = 'conflict';
    case Gone = 'gone';
    case PreconditionFailed = 'precondition-failed';
    case TooLarge = 'too-large';
    case UnsupportedMediaType = 'unsupported-media-type';
    case Invalid = 'invalid';
    case RateLimited = 'rate-limited';
    case HeadersTooLarge = 'headers-too-large';
    case Internal = 'internal';
    case NotImplemented = 'not-implemented';
    case Unavailable = 'unavailable';
    /** No connection, incomplete response or timeout. */
    case NoReply = 'no-reply';
    /** A response that is not from Parley, such as a redirect or a captive portal's page. */
    case Unreadable = 'unreadable';
    /** A base URL that would send credentials unencrypted (specification 4.3). */
    case InsecureUrl = 'insecure-url';
    /** A request to a webhook that is not from Parley. */
    case InvalidWebhook = 'invalid-webhook';

    /** Returns the kind of an error response. */
    public static function ofStatus(int $status): self
    {
        return match ($status) {
            401 => self::Unauthenticated,
            403 => self::Forbidden,
            404 => self::NotFound,
            405 => self::MethodNotAllowed,
            406 => self::NotAcceptable,
            408 => self::TimedOut,
            409 => self::Conflict,
            410 => self::Gone,
            412 => self::PreconditionFailed,
            413 => self::TooLarge,
            415 => self::UnsupportedMediaType,
            422 => self::Invalid,
            425 => self::Unavailable,
            429 => self::RateLimited,
            431 => self::HeadersTooLarge,
            500 => self::Internal,
            501 => self::NotImplemented,
            default => match (true) {
                $status < 400 => self::Unreadable,
                $status < 500 => self::Malformed,
                default => self::Unavailable,
            },
        };
    }
}
