<?php

declare(strict_types=1);

namespace Parley;

use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamInterface;

/** Sends calls with one credential, with retries. */
final class Caller
{
    private readonly string $baseUrl;

    /** @param string $authorization the header; hidden from `var_dump` */
    public function __construct(
        string $baseUrl,
        #[\SensitiveParameter] private readonly string $authorization,
        private readonly RetryPolicy $policy,
        public readonly Wire $wire,
    ) {
        $this->baseUrl = BaseUrl::check($baseUrl);
    }

    /** @throws ParleyException on failure, immediately or after the last retry */
    public function call(Call $call): Reply
    {
        $isPerhapsDone = false;
        for ($retry = 1; ; $retry++) {
            try {
                return $this->attempt($call);
            } catch (ParleyException $error) {
                if ($isPerhapsDone && $call->method === 'DELETE' && $error->kind === ErrorKind::NotFound) {
                    return new Reply([], null); // deleted by an earlier attempt whose response was lost
                }
                $this->waitBefore($retry, $error);
                $isPerhapsDone = $isPerhapsDone || $error->status === 0 || $error->status >= 500;
            }
        }
    }

    /** @return array<string, mixed> properties without the credential */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->baseUrl, 'policy' => $this->policy];
    }

    /** @throws ParleyException the error, if it is not retryable or the delay would be too long */
    private function waitBefore(int $retry, ParleyException $error): void
    {
        $random = ($this->wire->random)();
        $delay = $error->retryable ? $this->policy->delayBefore($retry, $random, $error->retryAfterMs) : null;
        if ($delay === null) {
            throw $error;
        }
        ($this->wire->sleep)($delay);
    }

    private function attempt(Call $call): Reply
    {
        $request = $this->toRequest($call);
        try {
            $response = $this->wire->client->sendRequest($request);
            $text = self::read($response->getBody());
        } catch (ClientExceptionInterface | \RuntimeException $cause) { // thrown while reading the body
            throw new ParleyException(
                ErrorKind::NoReply,
                "The server could not be reached or the response was incomplete: {$cause->getMessage()}",
                retryable: true,
                previous: $cause,
            );
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
        ], is_string(...));
        foreach ($headers as $name => $value) {
            $request = $request->withHeader($name, $value);
        }
        return $request;
    }
}
