<?php

declare(strict_types=1);

namespace Parley\Tests;

use Parley\Json;
use Parley\ServerClient;
use Parley\Tests\Support\Files;
use Parley\Tests\Support\ShapeReader;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;

/** Checks that the client matches the OpenAPI document. */
final class OpenApiTest extends TestCase
{
    /** Members of questions not sent by server versions before 0.3. */
    private const RULES = ['audience', 'response_limit', 'sampling_percent', 'schedule', 'trigger'];

    /** Members not sent by earlier server versions. */
    private const ABSENT_BEFORE = [
        'Answer' => ['counted', 'over_quota'],
        'Conversation' => ['merged_into_id'],
        'Message' => ['event', 'mentions'],
        'Question' => ['follow_ups', 'locale', 'placement', 'thanks', 'translations', ...self::RULES],
        'QuestionListItem' => ['follow_ups', 'locale', 'placement', 'thanks', 'translations', ...self::RULES],
        'QuestionVersion' => ['follow_ups', 'locale', 'thanks', 'translations'],
        'Results' => ['step', 'steps', 'test'],
    ];

    /** The names that the document has for our shapes, where they differ. */
    private const NAMES = [
        'NewAnswer' => 'AnswerInput',
        'NewConversation' => 'ConversationInput',
        'NewIdentity' => 'IdentityInput',
        'NewMacro' => 'MacroInput',
        'NewMessage' => 'MessageInput',
        'NewQuestion' => 'QuestionInput',
        'NewWebhook' => 'WebhookInput',
        'Frequency' => 'FrequencyInput',
        'ResponseLimit' => 'ResponseLimitInput',
        'Schedule' => 'ScheduleInput',
        'Trigger' => 'TriggerInput',
    ];

    /** Query shapes by operation. */
    private const QUERIES = [
        'AnswerQuery' => 'listAnswers',
        'CardDecisionsQuery' => 'readCardDecisions',
        'ConversationQuery' => 'listConversations',
        'DeliveryQuery' => 'listDeliveries',
        'EventQuery' => 'readEvents',
        'IdentityQuery' => 'listIdentities',
        'ProfileChangeQuery' => 'listProfileChanges',
        'QuestionQuery' => 'listQuestions',
        'ResultsQuery' => 'readResults',
    ];

    /** Query parameters for members of the team. */
    private const OF_MEMBERS = ['mentioned'];

    /** @return array<string, array{string, array<string, bool>}> */
    public static function shapes(): array
    {
        $schemas = Files::readJson(Files::OPENAPI)['components']['schemas'];
        $cases = [];
        foreach (ShapeReader::readAll() as $shape => $members) {
            $name = self::NAMES[$shape] ?? $shape;
            if (isset($schemas[$name])) {
                $cases[$shape] = [$name, $members];
            }
        }
        return $cases;
    }

    public function testEveryOperationOfAnApiKeyIsAMethod(): void
    {
        $methods = array_map(
            static fn (\ReflectionMethod $method): string => $method->getName(),
            (new \ReflectionClass(ServerClient::class))->getMethods(\ReflectionMethod::IS_PUBLIC),
        );
        self::assertEqualsCanonicalizing(array_keys(self::operations()), array_diff($methods, ['__construct', 'with']));
    }

    /** @param array<string, bool> $members whether each may be absent */
    #[DataProvider('shapes')]
    public function testAShapeHasTheMembersOfItsSchema(string $name, array $members): void
    {
        $schema = self::resolve(['$ref' => "#/components/schemas/$name"]);
        $variants = array_map(self::resolve(...), $schema['oneOf'] ?? $schema['anyOf'] ?? [$schema]);
        $properties = array_merge(...array_column($variants, 'properties'));
        self::assertEqualsCanonicalizing(array_keys($properties), array_keys($members));
        if (isset($schema['required']) && !str_ends_with($name, 'Input')) { // required with an API key
            $required = array_diff($schema['required'], self::ABSENT_BEFORE[$name] ?? []);
            self::assertEqualsCanonicalizing($required, array_keys($members, false, true));
        }
    }

    public function testEnoughShapesAreCompared(): void
    {
        self::assertGreaterThanOrEqual(18, count(self::shapes()));
    }

    public function testAQueryHasTheParametersOfItsOperation(): void
    {
        $shapes = ShapeReader::readAll();
        foreach (self::QUERIES as $shape => $operation) {
            $parameters = array_filter(
                array_map(self::resolve(...), self::operations()[$operation]['parameters']),
                static fn (array $parameter): bool => $parameter['in'] === 'query',
            );
            $names = array_diff(array_column($parameters, 'name'), self::OF_MEMBERS);
            self::assertEqualsCanonicalizing($names, array_keys($shapes[$shape]), $shape);
        }
    }

    public function testTheMembersThatAreObjectsAreKnown(): void
    {
        $found = [];
        foreach (self::operations() as $operation) {
            foreach ($operation['requestBody']['content'] ?? [] as $content) {
                self::collectObjects($content['schema'], $found);
            }
        }
        $names = array_keys($found);
        sort($names);
        self::assertSame(Json::OBJECTS, $names);
    }

    /** @return array<string, array<mixed>> operations available to an API key */
    private static function operations(): array
    {
        $operations = [];
        foreach (Files::readJson(Files::OPENAPI)['paths'] as $path) {
            foreach ($path as $operation) {
                if (in_array(['apiKey' => []], $operation['security'] ?? [], true)) {
                    $operations[$operation['operationId']] = $operation;
                }
            }
        }
        return $operations;
    }

    /**
     * Follows a reference to a component.
     *
     * @param array<mixed> $described
     * @return array<mixed>
     */
    private static function resolve(array $described): array
    {
        if (!isset($described['$ref'])) {
            return $described;
        }
        [, $kind, $name] = explode('/', substr($described['$ref'], 2));
        return Files::readJson(Files::OPENAPI)['components'][$kind][$name];
    }

    /**
     * @param array<mixed> $schema
     * @param array<string, true> $found
     * @param list<string|null> $within the schemas that contain it
     */
    private static function collectObjects(array $schema, array &$found, array $within = []): void
    {
        $name = $schema['$ref'] ?? null;
        if ($name !== null && in_array($name, $within, true)) {
            return; // a schema that contains itself
        }
        $within[] = $name;
        $schema = self::resolve($schema);
        foreach ($schema['properties'] ?? [] as $name => $property) {
            if ((self::resolve($property)['type'] ?? null) === 'object') {
                $found[$name] = true;
            }
            self::collectObjects($property, $found, $within);
        }
        foreach ([...$schema['oneOf'] ?? [], ...$schema['anyOf'] ?? [], ...array_filter([$schema['items'] ?? null])] as $part) {
            self::collectObjects($part, $found, $within);
        }
    }
}
