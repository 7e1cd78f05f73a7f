<?php

declare(strict_types=1);

namespace Parley\Runner;

/** Journal of answers on disk, one per line, written before they are sent. */
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
            throw new \RuntimeException("Cannot open $path.");
        }
        $written = (string) stream_get_contents($file);
        ftruncate($file, (int) strrpos("\n$written", "\n")); // removes an incomplete last line
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
            throw new \RuntimeException('Incomplete write to disk.');
        }
    }

    /** @return list<array<string, mixed>> all answers, oldest first */
    public function read(): array
    {
        rewind($this->file);
        $lines = explode("\n", (string) stream_get_contents($this->file), -1);
        return array_map(static fn (string $line): array => json_decode($line, true, 512, JSON_THROW_ON_ERROR), $lines);
    }
}
