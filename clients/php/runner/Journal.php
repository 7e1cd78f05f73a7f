<?php

declare(strict_types=1);

namespace Parley\Runner;

/** Answers on disk before they are sent, as a backend would keep them: a line each. */
final class Journal
{
    /** @param resource $file */
    private function __construct(private $file)
    {
    }

    public static function open(string $path): self
    {
        $file = fopen($path, 'c+');
        if ($file === false) {
            throw new \RuntimeException("$path can't be opened.");
        }
        $written = (string) stream_get_contents($file);
        ftruncate($file, (int) strrpos("\n$written", "\n")); // a line at which the process was killed is no line
        fseek($file, 0, SEEK_END);
        return new self($file);
    }

    /**
     * Returns when the answer is on disk.
     *
     * @param array<string, mixed> $answer
     */
    public function write(array $answer): void
    {
        $line = json_encode($answer, JSON_THROW_ON_ERROR) . "\n";
        if (fwrite($this->file, $line) !== strlen($line) || !fsync($this->file)) {
            throw new \RuntimeException('The disk took less than was written.');
        }
    }

    /** @return list<array<string, mixed>> every answer ever written, the oldest first */
    public function read(): array
    {
        rewind($this->file);
        $lines = explode("\n", (string) stream_get_contents($this->file), -1);
        return array_map(static fn (string $line): array => json_decode($line, true, 512, JSON_THROW_ON_ERROR), $lines);
    }
}
