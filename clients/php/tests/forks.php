<?php

declare(strict_types=1);

/* Prints how many responses forked processes read that were not theirs, with a client that was made before the fork. */

use Parley\ServerClient;

require __DIR__ . '/../vendor/autoload.php';

const ROUNDS = 100;

/** Answers each request with the id in its path, and keeps connections open. */
function answer(mixed $listener): never
{
    $open = [$listener];
    while (true) {
        $ready = $open;
        $none = null;
        stream_select($ready, $none, $none, null);
        foreach ($ready as $connection) {
            if ($connection === $listener) {
                $open[] = stream_socket_accept($listener);
                continue;
            }
            $request = (string) fread($connection, 65536);
            if (preg_match('~^GET /v1/questions/(\S+)~', $request, $parts) !== 1) {
                fclose($connection);
                $open = array_filter($open, static fn ($each): bool => $each !== $connection);
                continue;
            }
            $body = "{\"id\":\"$parts[1]\"}";
            fwrite($connection, "HTTP/1.1 200 OK\r\nContent-Length: " . strlen($body) . "\r\n\r\n$body");
        }
    }
}

$listener = stream_socket_server('tcp://127.0.0.1:0') ?: throw new LogicException('No free port.');
$url = 'http://' . stream_socket_get_name($listener, false);
$server = pcntl_fork();
if ($server === 0) {
    answer($listener);
}
$client = new ServerClient($url, 'sk_test');
$client->readQuestion('before');
$children = [];
for ($number = 0; $number < 3; $number++) {
    $child = pcntl_fork();
    if ($child === 0) {
        $wrong = 0;
        for ($round = 0; $round < ROUNDS; $round++) {
            $wrong += $client->readQuestion("$number-$round")['id'] === "$number-$round" ? 0 : 1;
        }
        exit($wrong);
    }
    $children[] = $child;
}
$wrong = 0;
foreach ($children as $child) {
    pcntl_waitpid($child, $status);
    $wrong += pcntl_wifexited($status) ? pcntl_wexitstatus($status) : ROUNDS;
}
$wrong += $client->readQuestion('after')['id'] === 'after' ? 0 : 1;
posix_kill($server, SIGKILL);
echo "wrong: $wrong\n";
