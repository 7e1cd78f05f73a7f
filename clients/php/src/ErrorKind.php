<?php

declare(strict_types=1);

namespace Parley;

/** What kind of trouble it is: by the status of the reply, or why there is none. */
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
    case PreconditionFailed = 'precondition-failed';
    case TooLarge = 'too-large';
    case UnsupportedMediaType = 'unsupported-media-type';
    case Invalid = 'invalid';
    case RateLimited = 'rate-limited';
    case HeadersTooLarge = 'headers-too-large';
    case Internal = 'internal';
    case NotImplemented = 'not-implemented';
    case Unavailable = 'unavailable';
    /** No connection, a reply that broke off, a time limit. */
    case NoReply = 'no-reply';
    /** A reply that no Parley sends: a redirect, a portal's page. */
    case Unreadable = 'unreadable';
    /** A base URL over which credentials would travel in the open (specification 4.3). */
    case InsecureUrl = 'insecure-url';

    /** The kind of a reply that is no success. */
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
