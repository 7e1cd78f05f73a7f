<?php

declare(strict_types=1);

namespace Parley;

/**
 * Client for a tenant's backend with an API key. One method per API operation, with the same name.
 *
 * Methods take path parameters, then the body or the query as an array with the API's names, and return the response as
 * an array (typed in `Shapes` for PHPStan). Arrays instead of objects, so that members added by newer servers are
 * available without an update.
 *
 * Calls are retried after missing or retryable responses; POSTs carry an idempotency key, the same for every attempt, so
 * that they take effect once. Every method throws `ParleyException`.
 */
final class ServerClient
{
    use Operations\Answers;
    use Operations\Conversations;
    use Operations\Events;
    use Operations\Identities;
    use Operations\Ingestion;
    use Operations\Macros;
    use Operations\Questions;
    use Operations\Webhooks;

    /** Version of this package. */
    public const VERSION = '0.2.0';

    private Caller $caller;

    /**
     * @param string $baseUrl `https://…`, or `http://localhost` in development
     * @param string $apiKey bearer value of a server key, `sk_…`. Use it on servers only
     * @param Wire|null $wire custom HTTP client, or a clock for tests
     * @param bool $allowHttp also accept `http://` for other hosts, such as a Service inside a cluster; the key is then
     *     readable for everyone in that network
     * @param (\Closure(Attempt): void)|null $onAttempt called after each attempt, for logs and metrics; its exceptions
     *     reach the caller
     * @throws ParleyException insecure-url
     * @throws \InvalidArgumentException if the key is invalid, for example the key's secret
     */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] string $apiKey,
        ?RetryPolicy $retry = null,
        ?Wire $wire = null,
        bool $allowHttp = false,
        ?\Closure $onAttempt = null,
    ) {
        if (preg_match('/^sk_[\x21-\x7e]+$/D', $apiKey) !== 1) {
            throw new \InvalidArgumentException('apiKey must be the bearer value of a server key, sk_…');
        }
        $base = BaseUrl::check($baseUrl, $allowHttp);
        $wire ??= Wire::open(usesProxies: str_starts_with($base, 'https:'));
        $this->caller = new Caller($base, "Bearer $apiKey", $retry ?? new RetryPolicy(), $wire, $onAttempt);
    }

    /**
     * Returns a client with another retry policy or HTTP client (for another time limit), for single calls.
     */
    public function with(?RetryPolicy $retry = null, ?Wire $wire = null): self
    {
        $other = clone $this;
        $other->caller = $this->caller->with($retry, $wire);
        return $other;
    }

    /**
     * @param array<string, mixed> $query
     * @return array<string, mixed>
     */
    private function read(string $operation, string $path, array $query = [], ?string &$etag = null): array
    {
        $reply = $this->caller->call(new Call($operation, 'GET', $path, $query));
        $etag = $reply->etag;
        return $reply->body;
    }

    /**
     * @param array<string, mixed> $query
     * @return Listing<array<string, mixed>>
     */
    private function list(string $operation, string $path, array $query): Listing
    {
        return new Listing($query, fn (array $query): Page => Page::of($this->read($operation, $path, $query)));
    }

    /**
     * @param array<string, mixed>|null $body
     * @return array<string, mixed>
     */
    private function post(
        string $operation,
        string $path,
        ?array $body,
        ?string $idempotencyKey,
        ?string $ifMatch = null,
    ): array {
        $key = $idempotencyKey ?? Uuid::v7();
        return $this->caller->call(new Call($operation, 'POST', $path, [], $body, $ifMatch, $key))->body;
    }

    /**
     * Posts items with client-generated ids: retries are safe without an `Idempotency-Key`.
     *
     * @param array<string, mixed> $body
     * @return array<string, mixed>
     */
    private function postIdentified(string $operation, string $path, array $body): array
    {
        return $this->caller->call(new Call($operation, 'POST', $path, [], $body))->body;
    }

    /**
     * @param array<string, mixed> $body
     * @param array<string, mixed> $query
     * @return array<string, mixed>
     */
    private function change(
        string $operation,
        string $method,
        string $path,
        array $body,
        array $query = [],
        ?string $ifMatch = null,
    ): array {
        return $this->caller->call(new Call($operation, $method, $path, $query, $body, $ifMatch))->body;
    }

    private function delete(string $operation, string $path, ?string $ifMatch = null): void
    {
        $this->caller->call(new Call($operation, 'DELETE', $path, ifMatch: $ifMatch));
    }
}
