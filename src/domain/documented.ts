import { z } from 'zod';
import type {} from 'zod-openapi'; // the types of `.meta()`

type JsonSchema = Record<string, unknown>;

/**
 * Returns the `override` of a schema whose form in JSON Schema cannot be derived from its checks: the document then shows
 * `form`, with the description, example and default of the schema.
 */
export const documentedAs =
  (form: JsonSchema) =>
  ({ jsonSchema }: { jsonSchema: JsonSchema }): void => {
    const kept = ['description', 'example', 'default'].flatMap(name =>
      name in jsonSchema ? [[name, jsonSchema[name]]] : [],
    );
    for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
    Object.assign(jsonSchema, form, Object.fromEntries(kept));
  };

/**
 * Returns the `override` of a batch whose items are parsed one by one, so that their type in zod is unknown: the document
 * then refers to the `component` of an item.
 */
export const documentedItems =
  (list: string, component: string) =>
  ({ jsonSchema }: { jsonSchema: JsonSchema }): void => {
    const described = (jsonSchema.properties as Record<string, JsonSchema> | undefined)?.[list];
    if (described) described.items = { $ref: `#/components/schemas/${component}` };
  };

/** The time of all events in examples, and a later one. */
export const EXAMPLE_TIME = '2026-11-21T07:00:00.000Z';
export const LATER_EXAMPLE = '2026-11-21T07:05:00.000Z';

/** The largest integer that PostgreSQL's `integer` and most languages' default integer hold. */
export const MAX_INT32 = 2_147_483_647;

/** A whole number of replies that stays within 32 bits. Others are documented with 64 bits. */
export const int32 = (min = 0) => z.int().min(min).max(MAX_INT32);
