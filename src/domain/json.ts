import { jsonPointer } from './validation.ts';

/** Maximum number of members, and of objects and arrays in arrays: more than any valid request has. */
export const MAX_PARTS = 10_000;

interface Counted {
  members: number;
  /** Objects and arrays in arrays. */
  nested: number;
}

/** Counts the parts of a parsed JSON document. Stops at the limits, and returns which one it has reached. */
function countParts(document: unknown, levels: number, counted: Counted): 'too-deep' | 'too-many' | undefined {
  if (counted.members + counted.nested > MAX_PARTS) return 'too-many';
  if (typeof document !== 'object' || document === null) return undefined;
  if (levels === 0) return 'too-deep';
  let fault: 'too-deep' | 'too-many' | undefined;
  if (Array.isArray(document))
    for (let at = 0; at < document.length && !fault; at++) {
      if (typeof document[at] === 'object') counted.nested++;
      fault = countParts(document[at], levels - 1, counted);
    }
  else
    for (const name in document) {
      counted.members++;
      fault = countParts(document[name as never], levels - 1, counted);
      if (fault) break;
    }
  return fault;
}

const COLON = ':';
const QUOTE = 0x22;
const SPACE = 0x20;

/** Counts the places with the end of a string and a colon: every member name, and texts with an escaped quote and one. */
function countNames(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(COLON); colon >= 0; colon = text.indexOf(COLON, colon + 1)) {
    let before = colon - 1;
    while (text.charCodeAt(before) <= SPACE) before--; // valid JSON has no other control characters there
    if (text.charCodeAt(before) === QUOTE) count++;
  }
  return count;
}

/** Strings and punctuation of a JSON text; numbers and literals are skipped. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;

/** Why a valid JSON text is not accepted: too many levels or parts, or the JSON pointer of a member that its object has twice. */
export type FormFault = 'too-deep' | 'too-many' | { repeated: string };

/**
 * Returns why a JSON text is not accepted; `undefined` when it is. `text` must be valid JSON, and `document` its parsed
 * value, which has only the last of repeated members.
 *
 * A text without repeated members has as many names as the document has members. So almost all texts are only counted.
 */
export function findFormFault(text: string, document: unknown, maxLevels: number): FormFault | undefined {
  const counted = { members: 0, nested: 0 };
  const fault = countParts(document, maxLevels, counted);
  if (fault) return fault;
  if (countNames(text) === counted.members) return undefined;
  const repeated = scanForRepeated(text);
  return repeated === undefined ? undefined : { repeated };
}

/** An object or array that the scan is in: its names so far, and the name or index of the current value. */
interface Level {
  names: Set<string> | undefined;
  at: string | number;
}

function scanForRepeated(text: string): string | undefined {
  const levels: Level[] = [];
  let lastString = '';
  for (const [token] of text.matchAll(TOKENS)) {
    const level = levels.at(-1);
    if (token === '{') levels.push({ names: new Set(), at: '' });
    else if (token === '[') levels.push({ names: undefined, at: 0 });
    else if (token === '}' || token === ']') levels.pop();
    else if (token === ',' && level && !level.names) level.at = Number(level.at) + 1;
    else if (token === ':' && level?.names) {
      level.at = JSON.parse(lastString) as string;
      if (level.names.has(level.at)) return jsonPointer(levels.map(({ at }) => at));
      level.names.add(level.at);
    } else if (token.startsWith('"')) lastString = token;
  }
  return undefined;
}

/** Returns JSON with sorted member names, so that equal values have equal texts. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
