<?php

declare(strict_types=1);

namespace Parley\Tests\Support;

use Parley\Listing;

/** Calls an operation by name with the arguments of the contract. */
final class Operation
{
    /**
     * @param array<mixed> $arguments `params`, `query`, `body`, `if_match`
     * @param array<string, mixed> $more further named arguments
     */
    public static function call(object $client, string $operation, array $arguments, array $more = []): mixed
    {
        $named = $more;
        foreach ($arguments['params'] ?? [] as $name => $value) {
            $named[self::camelCase($name)] = $value;
        }
        foreach (['query' => 'query', 'body' => 'body', 'if_match' => 'ifMatch'] as $member => $name) {
            if (isset($arguments[$member])) {
                $named[$name] = $arguments[$member];
            }
        }
        return $client->$operation(...$named);
    }

    /**
     * Like `call`, but returns the first page of lists.
     *
     * @param array<mixed> $arguments
     * @param array<string, mixed> $more
     */
    public static function request(object $client, string $operation, array $arguments, array $more = []): mixed
    {
        $result = self::call($client, $operation, $arguments, $more);
        return $result instanceof Listing ? $result->page() : $result;
    }

    public static function camelCase(string $name): string
    {
        return lcfirst(str_replace('_', '', ucwords($name, '_')));
    }
}
