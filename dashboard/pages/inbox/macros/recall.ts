type Attributes = Readonly<Record<string, unknown>>;

/** An attribute with its fallback, such as `{{identity.attributes.plan|your plan}}`, as the API reads it. */
const RECALL = /\{\{\s*identity\.attributes\.([A-Za-z0-9_.-]{1,64})\s*\|([^{}]*)\}\}/g;
/** Two opening braces with the text up to the closing ones, which may be missing. */
const IN_BRACES = /\{\{(.*?)(?:(\}\})|$)/gs;
const INSIDE = /^\s*identity\.attributes\.[A-Za-z0-9_.-]{1,64}\s*(?:\|([^{}]*))?$/;

const FORM = '{{identity.attributes.plan|your plan}}';

/** Returns the first fault of a text's variables, as the API would report it. */
export function recallFault(text: string): { code: string; detail: string } | undefined {
  for (const [, inside = '', end] of text.matchAll(IN_BRACES)) {
    const recall = end ? INSIDE.exec(inside) : null;
    if (!recall) return { code: 'invalid-format', detail: `Text in double braces must be of the form ${FORM}.` };
    if (!recall[1]?.trim())
      return {
        code: 'fallback-missing',
        detail: `Must have a text for users without the attribute, such as ${FORM}.`,
      };
  }
  return undefined;
}

const asText = (attributes: Attributes, name: string): string =>
  Object.hasOwn(attributes, name)
    ? String(attributes[name])
        .replaceAll(/\p{Cc}+/gu, ' ')
        .trim()
    : '';

/** Replaces each variable of a text by the attribute of the user, or by its fallback. */
export const recall = (text: string, attributes: Attributes): string =>
  text.replaceAll(RECALL, (_, name: string, fallback: string) => asText(attributes, name) || fallback.trim());
