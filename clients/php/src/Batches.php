<?php

declare(strict_types=1);

namespace Parley;

/**
 * Sends answers in smaller requests if something on the way, such as a firewall, refuses them.
 *
 * @phpstan-import-type NewAnswer from Shapes
 * @phpstan-import-type Receipt from Shapes
 */
final class Batches
{
    private const REFUSING = [400, 403, 406, 415, 422];

    /**
     * Returns a receipt for each answer. One that is refused in a request of its own is rejected with `refused`.
     *
     * @param list<NewAnswer> $answers
     * @param \Closure(list<NewAnswer>): array<string, mixed> $send
     * @return list<Receipt>
     * @throws ParleyException the refusal, if no answer was sent
     */
    public static function send(array $answers, \Closure $send): array
    {
        $receipts = [];
        $refusal = null;
        $isSent = false;
        $size = count($answers);
        $done = 0; // not the number of receipts: a reply may have fewer
        do {
            $part = array_slice($answers, $done, $size);
            try {
                array_push($receipts, ...self::receipts($send($part)));
                $done += count($part);
                $isSent = true;
                $size *= 2;
            } catch (ParleyException $error) {
                if (!self::isAboutContent($error)) {
                    throw $error;
                }
                if (count($part) > 1) {
                    $size = intdiv(count($part), 2);
                } else {
                    $refusal ??= $error;
                    $receipts[] = self::refused($part[0], $error);
                    $done++;
                }
            }
        } while ($done < count($answers));
        if ($refusal !== null && !$isSent) {
            throw $refusal;
        }
        return $receipts;
    }

    /**
     * @param array<string, mixed> $body
     * @return list<Receipt>
     */
    private static function receipts(array $body): array
    {
        $results = $body['results'] ?? null;
        if (!is_array($results)) {
            throw new ParleyException(ErrorKind::Unreadable, 'The response is not from Parley. Check the base URL.', 202);
        }
        /** @var list<Receipt> */
        return $results;
    }

    /** Whether fewer answers may pass. Parley itself reports a fault of an answer by its receipt. */
    private static function isAboutContent(ParleyException $error): bool
    {
        $isPage = $error->status >= 200 && $error->status < 300; // a success that is not of Parley
        $isRefusal = $isPage || in_array($error->status, self::REFUSING, true);
        return $error->status === 413 || ($isRefusal && !self::isOfParley($error));
    }

    private static function isOfParley(ParleyException $error): bool
    {
        return preg_match('/^[a-z-]+$/D', $error->problemCode ?? '') === 1;
    }

    /**
     * @param NewAnswer $answer
     * @return Receipt
     */
    private static function refused(array $answer, ParleyException $error): array
    {
        return [
            'id' => $answer['id'],
            'revision' => $answer['revision'],
            'status' => 'rejected',
            'code' => self::isOfParley($error) ? (string) $error->problemCode : 'refused',
            'detail' => $error->getMessage(),
        ];
    }
}
