<?php

declare(strict_types=1);

namespace Parley\Tests\Support;

/** PHP's built-in server on a free port. */
final class LocalServer
{
    private const START_LIMIT_S = 10;

    /** @param resource $process */
    private function __construct(private $process, public readonly string $url)
    {
    }

    public static function start(string $script): self
    {
        $port = self::freePort();
        $quiet = ['file', '/dev/null', 'w'];
        $process = proc_open([PHP_BINARY, '-S', "127.0.0.1:$port", $script], [1 => $quiet, 2 => $quiet], $pipes);
        if ($process === false) {
            throw new \LogicException('PHP did not start.');
        }
        for ($end = microtime(true) + self::START_LIMIT_S; !@fsockopen('127.0.0.1', $port); usleep(10_000)) {
            if (microtime(true) > $end) {
                throw new \LogicException('The server is not listening.');
            }
        }
        return new self($process, "http://127.0.0.1:$port");
    }

    public function stop(): void
    {
        proc_terminate($this->process);
        proc_close($this->process);
    }

    private static function freePort(): int
    {
        $socket = stream_socket_server('tcp://127.0.0.1:0');
        if ($socket === false) {
            throw new \LogicException('No free port.');
        }
        return (int) substr((string) strrchr((string) stream_socket_get_name($socket, false), ':'), 1);
    }
}
