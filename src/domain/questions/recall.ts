import type { FieldCode } from '../field-errors.ts';
import type { Attributes } from '../people/identities.ts';

/**
 * A recall in a text: an attribute's name and the fallback, such as `{{identity.attributes.plan|your plan}}`. Names are
 * those of `AttributeName`.
 */
const RECALL = /\{\{\s*identity\.attributes\.([A-Za-z0-9_.-]{1,64})\s*\|([^{}]*)\}\}/g;

/** Two opening braces with the text up to the closing ones, which may be missing. */
const IN_BRACES = /\{\{(.*?)(?:(\}\})|$)/gs;

const INSIDE = /^\s*identity\.attributes\.[A-Za-z0-9_.-]{1,64}\s*(?:\|([^{}]*))?$/;

const FORM = '{{identity.attributes.plan|your plan}}';

/** Returns the first fault of a text's recalls: a code, and a sentence with the rule. */
export function findRecallFault(text: string): [FieldCode, string] | undefined {
  for (const [, inside = '', end] of text.matchAll(IN_BRACES)) {
    const recall = end ? INSIDE.exec(inside) : null;
    if (!recall) return ['invalid-format', `Text in double braces must be of the form ${FORM}.`];
    if (!recall[1]?.trim())
      return ['fallback-missing', `Must have a text for users without the attribute, such as ${FORM}.`];
  }
  return undefined;
}

/** Returns the names of the attributes that a text recalls. */
export const recalledIn = (text: string): string[] =>
  text.includes('{{') ? [...text.matchAll(RECALL)].map(([, name = '']) => name) : [];

/** Returns an attribute as part of a text, without control characters; an empty text if it has none. */
const asText = (attributes: Attributes, name: string): string =>
  Object.hasOwn(attributes, name)
    ? String(attributes[name])
        .replaceAll(/\p{Cc}+/gu, ' ')
        .trim()
    : '';

/**
 * Replaces each recall of a text by the attribute, or by its fallback if the attribute is missing or empty.
 *
 * Attributes are plain text: recalls and replacement patterns in them have no effect.
 */
export const recall = (text: string, attributes: Attributes): string =>
  text.includes('{{')
    ? text.replaceAll(RECALL, (_, name: string, fallback: string) => asText(attributes, name) || fallback.trim())
    : text;
