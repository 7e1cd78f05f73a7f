<?php

declare(strict_types=1);

namespace Parley\Tests\Support;

use GuzzleHttp\Exception\ConnectException;
use GuzzleHttp\Psr7\HttpFactory;
use GuzzleHttp\Psr7\Response;
use Parley\Wire;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\ResponseInterface;

/** A fake network that serves the responses of a case in order and records the requests. */
final class Replies implements ClientInterface
{
    /** @var list<RequestInterface> */
    public array $requests = [];

    /** @var list<int> the milliseconds that the client would have waited */
    public array $waits = [];

    /** @var list<ResponseInterface|null> */
    private array $left;

    /** @param ResponseInterface|null ...$replies null for no response */
    public function __construct(?ResponseInterface ...$replies)
    {
        $this->left = array_values($replies);
    }

    public static function json(mixed $body, int $status = 200): Response
    {
        return new Response($status, ['Content-Type' => 'application/json'], json_encode($body, JSON_THROW_ON_ERROR));
    }

    public function sendRequest(RequestInterface $request): ResponseInterface
    {
        if ($this->left === []) {
            throw new \LogicException('No more responses in this case.');
        }
        $this->requests[] = $request;
        return array_shift($this->left) ?? throw new ConnectException('Connection reset', $request);
    }

    /** Wire of a client under test: fixed clock, random numbers of 0.5 and no real delays. */
    public function wire(float $now = 0): Wire
    {
        $messages = new HttpFactory();
        return Wire::open(
            $this,
            $messages,
            $messages,
            static fn (): float => $now,
            static fn (): float => 0.5,
            function (int $milliseconds): void {
                $this->waits[] = $milliseconds;
            },
        );
    }
}
