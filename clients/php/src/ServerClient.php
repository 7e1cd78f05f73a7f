<?php

declare(strict_types=1);

namespace Parley;

/**
 * Parley as a tenant's own server sees it, by its API key. One method an operation of the API, under its name.
 *
 * Every method takes what the path needs, then the body or the query as arrays under the names of the wire, and gives the
 * reply as an array of that kind (`Shapes` says what is in it; PHPStan checks it). Arrays and not objects, so that a
 * member that a newer server adds is there for who wants it, and nothing has to be mapped or kept in step.
 *
 * Calls are repeated when no reply came or the server said that it may help; a POST carries an idempotency key, the same
 * for every attempt, so that it counts once. Every method throws `ParleyException`.
 */
final class ServerClient
{
    use Operations\Answers;
    use Operations\Conversations;
    use Operations\Identities;
    use Operations\Ingestion;
    use Operations\Questions;

    /** The version of this package. */
    public const VERSION = '0.1.0';

    private readonly Caller $caller;

    /**
     * @param string $baseUrl `https://…`, or `http://localhost` while developing
     * @param string $apiKey the bearer value of a server key, `sk_…`. It belongs on servers alone
     * @param Wire|null $wire an HTTP client of your own, or a clock for tests
     * @throws ParleyException insecure-url
     * @throws \InvalidArgumentException where the key is none, such as the secret in its place
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] string $apiKey,
        ?RetryPolicy $retry = null,
        ?Wire $wire = null,
    ) {
        if (preg_match('/^sk_[\x21-\x7e]+$/D', $apiKey) !== 1) {
            throw new \InvalidArgumentException('apiKey must be the bearer value of a server key, sk_…');
        }
        $this->caller = new Caller($baseUrl, "Bearer $apiKey", $retry ?? new RetryPolicy(), $wire ?? Wire::open());
    }

    /**
     * @param array<string, mixed> $query
     * @return array<string, mixed>
     */
    private function read(string $path, array $query = [], ?string &$etag = null): array
    {
        $reply = $this->caller->call(new Call('GET', $path, $query));
        $etag = $reply->etag;
        return $reply->body;
    }

    /**
     * @param array<string, mixed> $query
     * @return Listing<array<string, mixed>>
     */
    private function list(string $path, array $query): Listing
    {
        return new Listing($query, fn (array $query): Page => Page::of($this->read($path, $query)));
    }

    /**
     * @param array<string, mixed>|null $body
     * @return array<string, mixed>
     */
    private function post(string $path, ?array $body, ?string $idempotencyKey, ?string $ifMatch = null): array
    {
        $key = $idempotencyKey ?? Uuid::v7();
        return $this->caller->call(new Call('POST', $path, [], $body, $ifMatch, $key))->body;
    }

    /**
     * Posts items that have ids of their own: repeating it is safe without an `Idempotency-Key`.
     *
     * @param array<string, mixed> $body
     * @return array<string, mixed>
     */
    private function postIdentified(string $path, array $body): array
    {
        return $this->caller->call(new Call('POST', $path, [], $body))->body;
    }

    /**
     * @param array<string, mixed> $body
     * @param array<string, mixed> $query
     * @return array<string, mixed>
     */
    private function change(
        string $method,
        string $path,
        array $body,
        array $query = [],
        ?string $ifMatch = null,
    ): array {
        return $this->caller->call(new Call($method, $path, $query, $body, $ifMatch))->body;
    }

    private function delete(string $path, ?string $ifMatch = null): void
    {
        $this->caller->call(new Call('DELETE', $path, ifMatch: $ifMatch));
    }
}
