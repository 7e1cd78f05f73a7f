<?php

declare(strict_types=1);

namespace Parley\Runner;

use Parley\Listing;
use Parley\ParleyException;
use Parley\ServerClient;
use Parley\Tests\Support\Operation;
use Parley\Uuid;

/** Server steps. A failed step throws. */
final class Part
{
    private const WAIT_S = 15;
    private const BATCH = 100;

    /** @var array<string, mixed> saved values by name */
    private array $saved = ['language' => 'PHP'];

    /** @param \Closure(array<string, mixed>): void $say writes a line */
    public function __construct(private readonly World $world, private readonly \Closure $say)
    {
    }

    /** @param array<mixed> $step */
    public function play(array $step): void
    {
        match ($step['do']) {
            'sign' => $this->saved[$step['as']] = $this->world->signer->sign($step['user']),
            'inspect' => $this->inspect($step),
            'call' => $this->call($step),
            'iterate' => $this->iterate($step),
            'record_answers' => $this->recordAnswers($step),
            'record_many' => $this->recordMany($step),
            'drain' => $this->drain(),
            'call_many' => $this->callMany($step),
        };
    }

    /** @param array<mixed> $step */
    private function inspect(array $step): void
    {
        $inspection = $this->parley()->inspectToken(['token' => $this->saved[$step['token']] ?? $step['token']]);
        self::equal([$step['valid'], $step['code']], [$inspection['valid'], $inspection['code']]);
    }

    /** @param array<mixed> $step */
    private function call(array $step): void
    {
        try {
            $result = Operation::call($this->parley(), $step['operation'], $this->fill($step['arguments']));
        } catch (ParleyException $error) {
            self::equal([$step['failure'] ?? null, $step['code'] ?? null], [$error->kind->value, $error->problemCode]);
            return;
        }
        self::equal(null, $step['failure'] ?? null);
        foreach ($step['expect'] ?? [] as $name => $value) {
            self::equal($value, $result[$name]);
        }
        foreach ($step['save'] ?? [] as $as => $name) {
            $this->saved[$as] = $result[$name];
        }
    }

    /** @param array<mixed> $step */
    private function iterate(array $step): void
    {
        $end = microtime(true) + (($step['wait'] ?? false) ? self::WAIT_S : 0);
        do {
            $list = Operation::call($this->parley(), $step['operation'], $this->fill($step['arguments']));
            $count = $list instanceof Listing ? iterator_count($list->getIterator()) : -1;
        } while ($count !== $step['count'] && microtime(true) < $end && usleep(100_000) === null);
        self::equal($step['count'], $count);
    }

    /** @param array<mixed> $step */
    private function recordAnswers(array $step): void
    {
        $question = $this->parley()->readQuestion($this->fill($step['question']));
        $answer = static fn (mixed $value): array => self::answer($question, $step['identity'], $value);
        $answers = array_map($answer, $step['values']);
        $receipts = $this->parley()->recordAnswers(['answers' => $answers]);
        self::equal($step['statuses'], array_column($receipts['results'], 'status'));
    }

    /** @param array<mixed> $step */
    private function recordMany(array $step): void
    {
        $question = $this->questionCalled($step['question']);
        for ($made = 0; $made < $step['count']; $made++) {
            $answer = self::answer($question, $step['identity'], 1 + $made % 5);
            $this->world->journal->write($answer);
            ($this->say)(['recorded' => $answer['id'], 'identity' => $step['identity']]);
            usleep($step['pause_ms'] * 1000);
        }
    }

    private function drain(): void
    {
        foreach (array_chunk($this->world->journal->read(), self::BATCH) as $answers) {
            $receipts = $this->parley()->recordAnswers(['answers' => $answers]);
            $taken = array_diff(array_column($receipts['results'], 'status'), ['accepted', 'duplicate']);
            self::equal([], array_values($taken));
        }
    }

    /** @param array<mixed> $step */
    private function callMany(array $step): void
    {
        for ($number = 1; $number <= $step['count']; $number++) {
            $body = ['identity' => $step['identity'], 'message' => "Message $number"];
            $key = ['idempotencyKey' => "many-$number"];
            Operation::call($this->parley(), $step['operation'], ['body' => $body], $key);
        }
    }

    /** @return array<string, mixed> */
    private function questionCalled(string $title): array
    {
        foreach ($this->parley()->listQuestions() as $question) {
            if ($question['title'] === $title) {
                return $question;
            }
        }
        throw new \RuntimeException("No question with title '$title'.");
    }

    /**
     * @param array<string, mixed> $question
     * @return array<string, mixed>
     */
    private static function answer(array $question, string $identity, mixed $value): array
    {
        return [
            'id' => Uuid::v7(),
            'revision' => 1,
            'identity' => $identity,
            'question_id' => $question['id'],
            'question_version' => $question['version'],
            'state' => 'completed',
            'values' => ['main' => $value],
        ];
    }

    /** Replaces `{names}` with saved values. */
    private function fill(mixed $value): mixed
    {
        if (is_array($value)) {
            return array_map($this->fill(...), $value);
        }
        $names = array_map(static fn (string $name): string => '{' . $name . '}', array_keys($this->saved));
        return is_string($value) ? str_replace($names, array_values($this->saved), $value) : $value;
    }

    private function parley(): ServerClient
    {
        return $this->world->parley;
    }

    private static function equal(mixed $expected, mixed $found): void
    {
        if ($expected !== $found) {
            throw new \RuntimeException('Expected ' . json_encode($expected) . ', found ' . json_encode($found));
        }
    }
}
