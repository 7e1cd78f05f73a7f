<?php

declare(strict_types=1);

namespace Parley;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamInterface;

/** Sends calls with one credential, with retries. */
final class Caller
{
    /**
     * @param string $baseUrl from `BaseUrl::check`
     * @param string $authorization the header; hidden from `var_dump`
     * @param (\Closure(Attempt): void)|null $onAttempt
     */
    public function __construct(
        private readonly string $baseUrl,
        #[\SensitiveParameter] private readonly string $authorization,
        private readonly RetryPolicy $policy,
        public readonly Wire $wire,
        private readonly ?\Closure $onAttempt = null,
    ) {
    }

    /** Returns a caller with another policy or wire. */
    public function with(?RetryPolicy $policy, ?Wire $wire): self
    {
        $policy ??= $this->policy;
        return new self($this->baseUrl, $this->authorization, $policy, $wire ?? $this->wire, $this->onAttempt);
    }

    /** @throws ParleyException on failure, immediately or after the last retry */
    public function call(Call $call): Reply
    {
        $isPerhapsDone = false;
        $retry = 0;
        while (true) {
            $retry++;
            $start = hrtime(true);
            $attempt = new Attempt($call->operation, $call->method, $retry);
            try {
                $reply = $this->attempt($call, $attempt);
                $this->report($attempt, $start);
                return $reply;
            } catch (ParleyException $error) {
                $isDone = $isPerhapsDone && $call->method === 'DELETE' && $error->kind === ErrorKind::NotFound;
                $delayMs = $isDone ? null : $this->delayBefore($retry, $error);
                $this->report($attempt, $start, $error, $delayMs);
                if ($isDone) {
                    return new Reply([], null); // deleted by an earlier attempt whose response was lost
                }
                if ($delayMs === null) {
                    throw $error;
                }
                ($this->wire->sleep)($delayMs);
                $isPerhapsDone = $isPerhapsDone || $error->status === 0 || $error->status >= 500;
            }
        }
    }

    /** @return array<string, mixed> properties without the credential */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->baseUrl, 'policy' => $this->policy];
    }

    /** Returns the delay in milliseconds; null if the error is not retryable or the delay would be too long. */
    private function delayBefore(int $retry, ParleyException $error): ?int
    {
        $random = ($this->wire->random)();
        return $error->retryable ? $this->policy->delayBefore($retry, $random, $error->retryAfterMs) : null;
    }

    private function report(Attempt $attempt, int $start, ?ParleyException $error = null, ?int $delayMs = null): void
    {
        if ($this->onAttempt !== null) {
            $attempt->durationMs = intdiv(hrtime(true) - $start, 1_000_000);
            $attempt->error = $error;
            $attempt->retryInMs = $delayMs;
            ($this->onAttempt)($attempt);
        }
    }

    private function attempt(Call $call, Attempt $attempt): Reply
    {
        $request = $this->toRequest($call);
        try {
            $response = $this->wire->client()->sendRequest($request);
            $attempt->status = $response->getStatusCode();
            $attempt->requestId = $response->hasHeader('X-Request-Id') ? $response->getHeaderLine('X-Request-Id') : null;
            $text = self::read($response->getBody());
        } catch (ClientExceptionInterface | \RuntimeException $cause) { // thrown while reading the body
            throw new ParleyException(
                ErrorKind::NoReply,
                "The server could not be reached or the response was incomplete: {$cause->getMessage()}",
                retryable: true,
                previous: $cause,
            );
        }
        if ($call->method === 'GET' && $attempt->status === 204) {
            throw Problem::unreadable($response); // of a proxy: every read has content
        }
        return Reply::read($response, $text, ($this->wire->now)());
    }

    /** Reads the whole body. Not by a string cast, which fails silently in some libraries. */
    private static function read(StreamInterface $body): string
    {
        if ($body->isSeekable()) {
            $body->rewind();
        }
        return $body->getContents();
    }

    private function toRequest(Call $call): RequestInterface
    {
        $url = $this->baseUrl . Path::withQuery($call->path, $call->query);
        $request = $this->wire->requests->createRequest($call->method, $url);
        if ($call->body !== null) {
            $request = $request->withBody($this->wire->streams->createStream(Json::encode($call->body)));
        }
        $headers = array_filter([
            'Authorization' => $this->authorization,
            'Accept' => 'application/json',
            'User-Agent' => 'parley-php/' . ServerClient::VERSION,
            'Content-Type' => $call->body === null ? null : 'application/json',
            'If-Match' => $call->ifMatch,
            'Idempotency-Key' => $call->idempotencyKey,
        ], static fn (?string $value): bool => $value !== null);
        foreach ($headers as $name => $value) {
            $request = $request->withHeader($name, $value);
        }
        return $request;
    }
}
